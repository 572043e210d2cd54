// SPDX-License-Identifier: Apache-2.0

// Package pages makes the files of a web site of a model: HTML by html/template, a style, a script and the logos. All texts of
// the model are hostile, so that none of them is ever a template.HTML, a URL of another scheme than HTTP, or a file name. It
// must not know how the model was made.
package pages

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"reflect"
	"strings"
	"time"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/cmd/winnow/receipt"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/site/model"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/parallel"
	"github.com/winnow-dev/winnow/render/tree"
)

//go:embed templates/*.html
var templates embed.FS

//go:embed assets
var assets embed.FS

// maxBytes bounds a site, which is in memory before it is written.
const maxBytes = 1 << 30

// file is a page before it is made: a template and its data.
type file struct {
	path, template string
	data           *page
}

// Render returns the files of a site. The same model gives the same bytes.
func Render(ctx context.Context, of *model.Site, title string) (*tree.Tree, error) {
	b := book{site: of, title: cmp.Or(plaintext.Line(title), "Winnow"), files: newPaths(of)}
	parsed := template.Must(template.New("").Funcs(functions(b.files)).ParseFS(templates, "templates/*.html"))
	all := filesOf(b)
	contents, failures := make([][]byte, len(all)), make([]error, len(all))
	err := parallel.For(ctx, len(all), func(i int) {
		var content bytes.Buffer
		failures[i] = parsed.ExecuteTemplate(&content, all[i].template, all[i].data)
		contents[i] = content.Bytes()
	})
	if err = cmp.Or(err, errors.Join(failures...)); err != nil {
		return nil, err
	}
	out := tree.New()
	for i, one := range all {
		if err := out.Add(one.path, contents[i]); err != nil {
			return nil, err
		}
	}
	if err := addOthers(of, out); err != nil {
		return nil, err
	}
	if size := out.Size(); size > maxBytes {
		return nil, fmt.Errorf("the site has %d bytes, more than %d: pass fewer catalogs", size, maxBytes)
	}
	return out, nil
}

// filesOf returns the pages.
func filesOf(b book) []file {
	all := []file{{frontPage, "front", b.front()}}
	if f := b.site.Fleet; f != nil {
		for _, p := range partsOf(f) {
			all = append(all, file{p.Href, "fleet", b.fleet(p)})
		}
		all = append(all, file{clustersPage, "clusters", b.page(clustersPage, clustersPage, "Clusters")})
		for _, c := range f.Members {
			all = append(all, file{b.files.clusters[c], "cluster", b.cluster(c)})
		}
	}
	for _, c := range b.site.Catalogs {
		all = append(all, file{b.files.catalogs[c], "catalog", b.catalog(c)})
		for _, a := range c.Applications {
			all = append(all, file{b.files.applications[a], "application", b.application(a)})
		}
	}
	return all
}

// addOthers adds the style, the script and the logos, each once.
func addOthers(site *model.Site, out *tree.Tree) error {
	entries, _ := assets.ReadDir("assets") // it is embedded
	for _, entry := range entries {
		content, _ := assets.ReadFile("assets/" + entry.Name())
		if err := out.Add("assets/"+entry.Name(), content); err != nil {
			return err
		}
	}
	for _, c := range site.Catalogs {
		for _, a := range c.Applications {
			if a.Logo == nil {
				continue
			}
			name := "logos/" + a.Logo.File
			if _, known := out.Content(name); known {
				continue
			}
			if err := out.Add(name, a.Logo.Data); err != nil {
				return err
			}
		}
	}
	return nil
}

// choice is what a filter chooses of.
type choice struct {
	Label, Key string
	Values     []string
}

// picture is a logo in a page.
type picture struct {
	Root        string
	Application *model.Application
	Size        int
}

// functions of the templates. None returns a type that html/template takes for safe.
func functions(files paths) template.FuncMap {
	return template.FuncMap{
		"count":        plaintext.Count,
		"short":        repository.Short,
		"stamp":        func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"day":          func(t time.Time) string { return t.UTC().Format(time.DateOnly) },
		"join":         func(all []string) string { return strings.Join(all, ", ") },
		"joined":       func(all []string) string { return strings.Join(all, "\n") },
		"lines":        func(all []model.Pair) string { return strings.Join(each.Map(all, model.Pair.String), "\n") },
		"title":        titleOf,
		"initial":      initialOf,
		"summary":      func(a *model.Application) string { return plaintext.Brief(a.Description, mostOfSummary) },
		"search":       searchOf,
		"isDeprecated": isDeprecated,
		"href":         func(a *model.Application) string { return files.applications[a] },
		"link":         func(p *page, row *model.Row, a *model.Application) rowLink { return files.linkOf(p.Root, row, a) },
		"logo":         func(p *page, a *model.Application, size int) picture { return picture{p.Root, a, size} },
		"select":       func(label, key string, values []string) choice { return choice{label, key, values} },
		"first":        first,
		"causes":       model.CausesOf,
		"clusterHref":  func(c *model.Cluster) string { return files.clusters[c] },
		"lower":        strings.ToLower,
		"why":          whyUnknown,
		"more":         more,
		"revision":     revisionOf,
		"highlight":    highlight,
		"graphs":       func(a *model.Application) []drawing { return each.Map(a.Channels, draw) },
	}
}

// whyUnknown returns a sentence for a reason of a receipt. One of a newer winnow is shown as it is.
func whyUnknown(reason string) string {
	switch reason {
	case receipt.Forbidden:
		return "the account of the job must not list them"
	case receipt.InUserClusters:
		return "user clusters have them"
	case receipt.TooMany:
		return "too many for a receipt"
	}
	return reason
}

// first returns at most n of a list.
func first(n int, list any) any {
	v := reflect.ValueOf(list)
	return v.Slice(0, min(n, v.Len())).Interface()
}

// more counts what first leaves out.
func more(n int, list any) int { return max(0, reflect.ValueOf(list).Len()-n) }

// revisionOf returns a tag, or the beginning of a digest.
func revisionOf(revision string) string {
	const shown = len("@sha256:") + 12
	if strings.HasPrefix(revision, "@") {
		revision = revision[:min(len(revision), shown)]
	}
	return strings.TrimLeft(revision, ":@")
}

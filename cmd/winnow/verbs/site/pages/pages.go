// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/site/model"
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
	parsed, err := template.New("").Funcs(functions(b.files)).ParseFS(templates, "templates/*.html")
	if err != nil {
		return nil, err
	}
	all := filesOf(b)
	contents, failures := make([][]byte, len(all)), make([]error, len(all))
	err = parallel.For(ctx, len(all), func(i int) {
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
	entries, err := assets.ReadDir("assets")
	if err != nil {
		return err
	}
	for _, entry := range entries {
		content, err := assets.ReadFile("assets/" + entry.Name())
		if err != nil {
			return err
		}
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

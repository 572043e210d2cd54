// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"html/template"
	"reflect"
	"strings"
	"time"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/cmd/winnow/receipt"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/site/model"
)

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
		"lines":        func(all []model.Pair) string { return strings.Join(texts(all), "\n") },
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
		"graphs":       graphs,
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

// SPDX-License-Identifier: Apache-2.0

package site

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/cmd/winnow/flags/commits"
	"github.com/winnow-dev/winnow/cmd/winnow/input"
	"github.com/winnow-dev/winnow/cmd/winnow/memo"
	"github.com/winnow-dev/winnow/cmd/winnow/oci"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/site/model"
	"github.com/winnow-dev/winnow/registry/redact"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/selection"
)

// catalogs are the opened catalogs, each once.
type catalogs struct {
	access *flags.Access
	// arguments of the command line.
	arguments []argument
	opened    []opened
	// loaded has them by repository, revision and place.
	loaded memo.Memo
}

// argument is [NAME=]CATALOG. Its name is given, or the end of the address.
type argument struct {
	name, where string
	named       bool
}

// opened is a catalog at an address, read from a place in it.
type opened struct {
	// name of the OCIRepository, repository and revision of the address, and key of the place.
	name, repository, revision, key string
	source                          selection.Source
}

func newCatalogs(args []string, access *flags.Access) *catalogs {
	return &catalogs{access: access, arguments: each.Map(args, parseArgument), loaded: memo.Memo{}}
}

func parseArgument(arg string) argument {
	name, where, found := strings.Cut(arg, "=")
	if found && where != "" && len(validation.IsDNS1123Subdomain(name)) == 0 {
		if _, err := os.Stat(arg); err != nil {
			return argument{name, where, true}
		}
	}
	if strings.HasPrefix(arg, oci.Scheme) {
		repository, _ := model.Split(arg)
		return argument{name: path.Base(repository), where: arg}
	}
	name = arg
	if full, err := filepath.Abs(arg); err == nil {
		name = full
	}
	return argument{name: strings.TrimSuffix(filepath.Base(name), ".tar.gz"), where: arg}
}

// open loads the catalog of a source that a commit names: from the argument with its name, or else from the address. It
// keeps what it has loaded.
func (c *catalogs) open(ctx context.Context, address string, ref v1alpha1.SourceReference, plainHTTP bool) (selection.Source, error) {
	one := opened{name: ref.Name, key: render.LocationOf(ref).Key()}
	one.repository, one.revision = model.Split(address)
	open := func() (selection.Source, error) { return commits.OpenOfCommit(c.access)(ctx, address, ref, plainHTTP) }
	i := slices.IndexFunc(c.arguments, func(a argument) bool { return a.named && a.name == ref.Name })
	if i >= 0 {
		one.repository, one.revision = c.arguments[i].where, ""
		open = func() (selection.Source, error) { return input.OpenSource(ctx, one.repository, ref, c.access) }
	}
	return memo.Of(ctx, c.loaded, [3]string{one.repository, one.revision, one.key}, func() (selection.Source, error) {
		source, err := open()
		return c.keep(one, source, err)
	})
}

func (c *catalogs) keep(one opened, source selection.Source, err error) (selection.Source, error) {
	if err == nil {
		one.source = source
		c.opened = append(c.opened, one)
	}
	return source, err
}

// show adds the catalogs to the site: of the arguments, and the newest of each repository of the survey. It adds what cannot be read.
func (c *catalogs) show(ctx context.Context, ref v1alpha1.SourceReference, survey *model.Survey, site *model.Site) error {
	ofCommit := slices.Clone(c.opened)
	for _, a := range c.arguments {
		used := func(o opened) bool { return o.repository == a.where }
		if a.named && slices.ContainsFunc(ofCommit, used) {
			continue
		}
		one := opened{name: a.name, repository: a.where, key: render.LocationOf(ref).Key()}
		if strings.HasPrefix(a.where, oci.Scheme) && !a.named {
			one.repository, one.revision = model.Split(a.where)
		}
		source, err := input.OpenSource(ctx, a.where, ref, c.access)
		if _, err = c.keep(one, source, err); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			site.Unread = append(site.Unread, model.Unread{Where: redact.Text(a.where), Reason: redact.Text(err.Error())})
		}
	}
	shown := map[*catalog.Catalog]*model.Catalog{}
	place := func(o opened) [2]string { return [2]string{o.repository, o.key} }
	for _, group := range each.Group(c.opened, place) {
		newest := newestOf(group, survey.Since)
		address := newest.repository + newest.revision
		made, err := model.NewCatalog(ctx, newest.name, address, newest.source.Digest, newest.source.Catalog)
		if err != nil {
			return fmt.Errorf("%s: %w", address, err)
		}
		site.Catalogs = append(site.Catalogs, made)
		for _, o := range group {
			shown[o.source.Catalog] = made
		}
	}
	slices.SortStableFunc(site.Catalogs, func(a, b *model.Catalog) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Address, b.Address))
	})
	survey.Catalogs = shown
	return nil
}

// newestOf returns the newest catalog of a repository, or the one that was opened last where that is not known.
func newestOf(group []opened, since map[string]time.Time) opened {
	revisions := each.Map(group, func(o opened) string { return o.revision })
	slices.Sort(revisions)
	newest, known := model.Newest(group[0].repository, slices.Compact(revisions), since)
	i := slices.IndexFunc(group, func(o opened) bool { return o.revision == newest })
	if !known || i < 0 {
		i = len(group) - 1
	}
	return group[i]
}

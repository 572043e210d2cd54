// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/manifest"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/promotions"
	"github.com/winnow-dev/winnow/cmd/winnow/memo"
	"github.com/winnow-dev/winnow/render/diff/comparing"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/selection"
)

// maxListed bounds what a sentence lists.
const maxListed = 5

// Options of a comparison.
type Options struct {
	// Dir is a directory of the repository; empty for the working directory.
	Dir string
	// Paths of clusters, or of files, in the repository.
	Paths []string
	// Repositories are NAME=DIR: sources that resolve to this repository, whatever their address.
	Repositories []string
	// Open loads the catalog at an address, oci://host/repository[:tag|@digest], as the source ref. plainHTTP
	// reports whether the commit allows a connection without TLS.
	Open func(ctx context.Context, address string, ref v1alpha1.SourceReference, plainHTTP bool) (selection.Source, error)
	// Rendered has the rendered artifacts; nil to compare none.
	Rendered *promotions.Registry
	// Edits are other contents of files of the newer commit.
	Edits map[string][]byte
	// Observe adds to the comparison of two states of a selection; nil for nothing.
	Observe comparing.Observer
	// Render renders a selection; comparing.Render if it is nil.
	Render func(ctx context.Context, cs *v1alpha1.CatalogSelection, sources []guard.Source) (*comparing.Side, error)
}

// beforePrefix is the prefix of sentences on the older commit.
const beforePrefix = "before: "

// comparison compares two commits.
type comparison struct {
	options    Options
	base, head documents.Set
	// pairs are the selections of both.
	pairs []*pair
	// outside are files that differ and are outside of the paths.
	outside []documents.File
	// memo has what selections of several clusters have in common: objects, catalogs, renders and comparisons.
	memo memo.Memo
}

// readCommits evaluates two commits, and reads what they have.
func readCommits(ctx context.Context, base, head string, options Options) (*comparison, *gitops.Comparison, error) {
	compared, err := gitops.Compare(ctx, base, head, gitops.Options{
		Dir: options.Dir, Paths: options.Paths, Repositories: options.Repositories, Keep: documents.MayBeRelevant, Edits: options.Edits,
	})
	if err != nil {
		return nil, nil, err
	}
	c := &comparison{options: options, memo: memo.Memo{}, outside: compared.Outside}
	c.base, c.head = c.read(ctx, compared.Base), c.read(ctx, compared.Head)
	return c, compared, nil
}

// read reads the objects that a commit applies, and the files that Flux does not apply.
func (c *comparison) read(ctx context.Context, state gitops.State) documents.Set {
	r := documents.Set{Commit: state.Commit}
	for _, o := range state.Objects {
		document, err := c.parse(ctx, o)
		if err == nil {
			err = r.Add(ctx, o.Origin, document)
		}
		if err != nil {
			r.Notes = append(r.Notes, fmt.Sprintf("%s: %s %s is left out: %v", o.Cluster, o.GetKind(), o.GetName(), err))
		}
	}
	for _, file := range state.Files {
		r.Read(ctx, file)
	}
	return r
}

func (c *comparison) parse(ctx context.Context, o manifest.Object) (*documents.Document, error) {
	text, err := json.Marshal(o.Object)
	if err != nil {
		return nil, err
	}
	return memo.Of(ctx, c.memo, string(text), func() (*documents.Document, error) { return documents.Parse(ctx, text), nil })
}

// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"cmp"
	"context"
	"time"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/promotions"
	"github.com/winnow-dev/winnow/cmd/winnow/memo"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/diff"
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
	// Compare compares two states of a selection. A state is nil if the commit does not contain the selection.
	Compare func(ctx context.Context, from, to *comparing.Side) (*diff.Selection, error)
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
	pairs []pair
	// outside are files that differ and are outside of the paths.
	outside []documents.File
	// memo has what selections of several clusters have in common: objects, catalogs, renders and comparisons.
	memo memo.Memo
	// unknown are sentences on what is compared and may differ from the cluster.
	unknown []string
	// placements are the placements of the rendered selections.
	placements []placement
}

// side renders a state of a selection. It returns nil for a nil selection.
func (c *comparison) side(ctx context.Context, cs *documents.Selection, references []documents.Reference) (*comparing.Side, error) {
	if cs == nil || cs.Invalid != nil {
		return nil, cs.Reason()
	}
	placed := cs.DeepCopy()
	placed.Namespace = cmp.Or(placed.Namespace, "default")
	sources := make([]guard.Source, len(references))
	for i, r := range references {
		ref := placed.Spec.Sources[i]
		if err := r.RequireVerified(ref); err != nil {
			return nil, err
		}
		pulled, err := c.pull(ctx, r, ref)
		if err != nil {
			return nil, err
		}
		sources[i] = guard.SourceOf(placed, ref, pulled)
	}
	return c.render(ctx, placed, references, sources)
}

// pullTimeout bounds the pull of one catalog, so that a registry that hangs does not prevent the comparison
// of the others.
const pullTimeout = 3 * time.Minute

// pull loads a catalog and caches it.
func (c *comparison) pull(ctx context.Context, r documents.Reference, ref v1alpha1.SourceReference) (selection.Source, error) {
	return memo.Of(ctx, c.memo, r.Catalog+" "+render.LocationOf(ref).Key(), func() (selection.Source, error) {
		limited, cancel := context.WithTimeout(ctx, pullTimeout)
		defer cancel()
		return c.options.Open(limited, r.Catalog, ref, r.PlainHTTP)
	})
}

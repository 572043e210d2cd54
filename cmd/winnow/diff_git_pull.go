package main

import (
	"context"
	"time"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/selection"
)

// pulledCatalog is what pulling a catalog led to.
type pulledCatalog struct {
	source selection.Source
	err    error
}

// pullTimeout bounds the pull of one catalog, so that a registry that hangs does not keep the others
// from being compared.
const pullTimeout = 3 * time.Minute

// pull loads a catalog once. Without TLS only if both the OCIRepository and the flag say so: what
// a pull request says alone must not send credentials in the clear.
func (c *gitComparison) pull(ctx context.Context, r reference, ref v1alpha1.SourceReference) (selection.Source, error) {
	key := r.catalog + " " + ref.Format + " " + ref.Path
	found, known := c.pulled[key]
	if !known {
		limited, cancel := context.WithTimeout(ctx, pullTimeout)
		defer cancel()
		found.source, found.err = openSource(limited, r.catalog, ref, c.plainHTTP && r.plainHTTP)
		c.pulled[key] = found
	}
	return found.source, found.err
}

// SPDX-License-Identifier: Apache-2.0

package promotions

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/cmd/winnow/memo"
	"github.com/winnow-dev/winnow/render"
)

// State is an OCIRepository in a commit, with the address of its artifact, and the artifact or why that is not known.
type State struct {
	documents.Source
	Reference documents.Reference
	// Artifact is none where Err is the reason why it is not known.
	Artifact render.Artifact
	Err      error
}

// Open pulls the artifact at an address, oci://host/repository@digest. plainHTTP reports whether the commit allows a
// connection without TLS.
type Open func(ctx context.Context, address string, plainHTTP bool) (render.Artifact, error)

// pullTimeout bounds the pull of one artifact, and maxKept the artifacts that are kept: each may take much memory.
const (
	pullTimeout = 3 * time.Minute
	maxKept     = 16
)

// Registry pulls and compares each artifact once. It is not safe for concurrent use.
type Registry struct {
	open   Open
	pulled memo.Memo
	// hanging are the registries that did not answer in time, and are not asked again.
	hanging  map[string]error
	compared memo.Memo
}

// NewRegistry returns a registry without results.
func NewRegistry(open Open) *Registry {
	return &Registry{open: open, pulled: memo.Memo{}, hanging: map[string]error{}, compared: memo.Memo{}}
}

// Pull returns the artifact of a reference. The caller must not change it.
func (r *Registry) Pull(ctx context.Context, of documents.Reference) (render.Artifact, error) {
	return memo.Of(ctx, r.pulled, fmt.Sprint(of.Catalog, of.PlainHTTP), func() (render.Artifact, error) {
		if len(r.pulled) >= maxKept {
			clear(r.pulled)
		}
		host, _, _ := strings.Cut(strings.TrimPrefix(of.Catalog, "oci://"), "/")
		if err := r.hanging[host]; err != nil {
			return render.Artifact{}, err
		}
		limited, cancel := context.WithTimeout(ctx, pullTimeout)
		defer cancel()
		artifact, err := r.open(limited, of.Catalog, of.PlainHTTP)
		if errors.Is(err, context.DeadlineExceeded) {
			r.hanging[host] = fmt.Errorf("%s did not answer within %s", host, pullTimeout)
		}
		return artifact, err
	})
}

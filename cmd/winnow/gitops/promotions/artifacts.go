// SPDX-License-Identifier: Apache-2.0

package promotions

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/diff/comparing"
)

// Artifact is what a digest refers to.
type Artifact struct {
	// Result is what was rendered, and nil if the artifact is another one: then Other is why.
	Result *render.Result
	Other  string
}

// Open pulls the artifact at an address, oci://host/repository@digest. plainHTTP reports whether the commit allows a
// connection without TLS.
type Open func(ctx context.Context, address string, plainHTTP bool) (Artifact, error)

// pullTimeout bounds the pull of one artifact, and maxKept the artifacts that are kept: each may take much memory.
const (
	pullTimeout = 3 * time.Minute
	maxKept     = 16
)

// artifacts pulls and compares each artifact once.
type artifacts struct {
	open   Open
	pulled map[string]pulled
	// hanging are the registries that did not answer in time, and are not asked again.
	hanging  map[string]error
	compared map[[4]string]*diff.Selection
}

type pulled struct {
	artifact Artifact
	err      error
}

func newArtifacts(open Open) *artifacts {
	return &artifacts{open: open, pulled: map[string]pulled{}, hanging: map[string]error{}, compared: map[[4]string]*diff.Selection{}}
}

// pull returns the artifact of a reference with a digest.
func (a *artifacts) pull(ctx context.Context, r documents.Reference) (Artifact, error) {
	key := fmt.Sprint(r.Catalog, r.PlainHTTP)
	found, known := a.pulled[key]
	if known {
		return found.artifact, found.err
	}
	host, _, _ := strings.Cut(strings.TrimPrefix(r.Catalog, "oci://"), "/")
	if found.err = a.hanging[host]; found.err == nil {
		limited, cancel := context.WithTimeout(ctx, pullTimeout)
		defer cancel()
		found.artifact, found.err = a.open(limited, r.Catalog, r.PlainHTTP)
		if errors.Is(found.err, context.DeadlineExceeded) {
			a.hanging[host] = fmt.Errorf("%s did not answer within %s", host, pullTimeout)
		}
	}
	if len(a.pulled) >= maxKept {
		clear(a.pulled)
	}
	a.pulled[key] = found
	return found.artifact, found.err
}

// compare compares the artifacts of a stage. The caller may change the result.
func (a *artifacts) compare(ctx context.Context, s stage, from, to Artifact) (*diff.Selection, error) {
	key := [4]string{s.before.Catalog, s.after.Catalog, strings.Join(s.lines, "\n"), strings.Join(s.former, "\n")}
	found := a.compared[key]
	if found == nil {
		var err error
		if found, err = comparing.Artifacts(ctx, from.Result, to.Result, s.lines, s.former); err != nil {
			return nil, err
		}
		a.compared[key] = found
	}
	return found.Clone(), nil
}

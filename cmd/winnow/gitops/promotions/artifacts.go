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
	pulled memo.Memo[string, Artifact]
	// hanging are the registries that did not answer in time, and are not asked again.
	hanging  map[string]error
	compared memo.Memo[[4]string, *diff.Selection]
}

func newArtifacts(open Open) *artifacts {
	return &artifacts{open: open, pulled: memo.Memo[string, Artifact]{}, hanging: map[string]error{}, compared: memo.Memo[[4]string, *diff.Selection]{}}
}

// pull returns the artifact of a reference with a digest.
func (a *artifacts) pull(ctx context.Context, r documents.Reference) (Artifact, error) {
	return a.pulled.Of(ctx, fmt.Sprint(r.Catalog, r.PlainHTTP), func() (Artifact, error) {
		if len(a.pulled) >= maxKept {
			clear(a.pulled)
		}
		host, _, _ := strings.Cut(strings.TrimPrefix(r.Catalog, "oci://"), "/")
		if err := a.hanging[host]; err != nil {
			return Artifact{}, err
		}
		limited, cancel := context.WithTimeout(ctx, pullTimeout)
		defer cancel()
		artifact, err := a.open(limited, r.Catalog, r.PlainHTTP)
		if errors.Is(err, context.DeadlineExceeded) {
			a.hanging[host] = fmt.Errorf("%s did not answer within %s", host, pullTimeout)
		}
		return artifact, err
	})
}

// compare compares the artifacts of a stage. The caller may change the result.
func (a *artifacts) compare(ctx context.Context, s stage, from, to Artifact) (*diff.Selection, error) {
	key := [4]string{s.before.Catalog, s.after.Catalog, strings.Join(s.lines, "\n"), strings.Join(s.former, "\n")}
	found, err := a.compared.Of(ctx, key, func() (*diff.Selection, error) {
		return comparing.Artifacts(ctx, from.Result, to.Result, s.lines, s.former)
	})
	if err != nil {
		return nil, err
	}
	return found.Clone(), nil
}

// SPDX-License-Identifier: Apache-2.0

package charts

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/winnow-dev/winnow/cmd/winnow/charts/fetching"
	"github.com/winnow-dev/winnow/cmd/winnow/charts/rendering"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// Source has charts: a *fetching.Fetcher, or a *fetching.Directory.
type Source interface {
	// Fetch returns the archive of a chart.
	Fetch(ctx context.Context, r fetching.Reference) ([]byte, error)
}

// Sandbox renders charts: a *sandbox.Sandbox.
type Sandbox interface {
	Render(ctx context.Context, request rendering.Request) (rendering.Answer, error)
}

// Renderer fetches charts and renders them.
type Renderer struct {
	Source  Source
	Sandbox Sandbox
	// FromOriginals fetches charts from their addresses before the mirrors, not from those behind them.
	FromOriginals bool
	// KubeVersion of the cluster; empty is Helm's default.
	KubeVersion string
	// FindUnread finds the keys of values that a chart does not read.
	FindUnread bool
}

// Rendered is a chart with its renders.
type Rendered struct {
	Chart

	// Failure is the reason why it could not be fetched, or is no chart; nil otherwise. A missing chart has none.
	Failure error
	// Rendered are the renders of each use.
	Rendered []Pair
}

// Pair is a chart with values before the mirrors and with those behind them.
type Pair struct{ From, To rendering.Render }

// maxFetches bounds the charts that are fetched at once.
const maxFetches = 8

// Render fetches and renders charts, in their order. Of a chart that several versions have, each is rendered for itself. The
// error is that of the context.
func (r Renderer) Render(ctx context.Context, all []Chart) ([]Rendered, error) {
	out := make([]Rendered, len(all))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxFetches)
	processes := make(chan struct{}, max(runtime.GOMAXPROCS(0)/2, 1)) // a process has two threads that compute
	for i, chart := range all {
		group.Go(func() error {
			out[i] = Rendered{Chart: chart}
			if chart.Missing == "" {
				out[i].Failure = r.one(ctx, &out[i], processes)
			}
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("rendering charts: %w", err)
	}
	return out, nil
}

// one fetches and renders one chart.
func (r Renderer) one(ctx context.Context, out *Rendered, processes chan struct{}) error {
	reference := out.To
	if r.FromOriginals {
		reference = out.From
	}
	packed, err := r.Source.Fetch(ctx, reference)
	if err != nil {
		return err
	}
	processes <- struct{}{}
	defer func() { <-processes }()
	for _, use := range out.Uses {
		request := rendering.Request{
			Chart: packed, ReleaseName: use.ReleaseName, Namespace: use.Namespace, KubeVersion: r.KubeVersion, FindUnread: r.FindUnread,
			Values: [][]byte{use.To},
		}
		if !bytes.Equal(use.From, use.To) {
			request.Values = append(request.Values, use.From)
		}
		answer, err := r.Sandbox.Render(ctx, request)
		if err == nil {
			err = check(reference, answer)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", reference, err)
		}
		last := len(answer.Renders) - 1
		if has := answer.Version; strings.TrimPrefix(has, "v") != strings.TrimPrefix(reference.Version, "v") {
			answer.Renders[0].Notes = append(answer.Renders[0].Notes, fmt.Sprintf("its archive has the version %s of the chart", excerpt.Quoted(has)))
		}
		out.Rendered = append(out.Rendered, Pair{To: answer.Renders[0], From: answer.Renders[last]})
	}
	return nil
}

// check refuses an archive of another chart than the one that was asked for.
func check(want fetching.Reference, got rendering.Answer) error {
	if got.Refused != "" {
		return fmt.Errorf("its archive is no chart that Helm can read: %s", got.Refused)
	}
	if name := path.Base(want.Name); got.Name != name {
		return fmt.Errorf("its archive has the chart %q", got.Name)
	}
	return nil
}

// SPDX-License-Identifier: Apache-2.0

package charts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/winnow-dev/winnow/cmd/winnow/charts/fetching"
	"github.com/winnow-dev/winnow/cmd/winnow/charts/rendering"
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
	// FromOriginals fetches charts from their addresses before the mirrors, not behind them.
	FromOriginals bool
	// KubeVersion of the cluster; empty is Helm's default.
	KubeVersion string
	// OnlyServed leaves out the APIs that Kubernetes has removed in this version.
	OnlyServed bool
	// FindUnread finds the keys of values that a chart does not read.
	FindUnread bool
}

// Rendered is a chart with its renders.
type Rendered struct {
	Chart

	// Failure is why the chart could not be fetched or read; nil otherwise, and for a missing chart. It is ErrNoChart or
	// ErrOtherChart of the archive, an error of the sandbox, or a *FetchError of the source.
	Failure error
	// OtherVersion is the version in the Chart.yaml of its archive, if it is another one.
	OtherVersion string
	// Schema is its values.schema.json.
	Schema string
	// Rendered are the renders of each use.
	Rendered []Pair
}

// Pair is a chart with values before the mirrors and behind them.
type Pair struct{ Original, Mirrored rendering.Render }

// maxFetches bounds the charts that are fetched at once.
const maxFetches = 8

// Render fetches and renders charts, in their order. It renders a chart again for each version that has it. It returns the error
// of the context.
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
	reference := out.Mirrored
	if r.FromOriginals {
		reference = out.Original
	}
	packed, err := r.Source.Fetch(ctx, reference)
	if err != nil {
		return &FetchError{err}
	}
	processes <- struct{}{}
	defer func() { <-processes }()
	for _, use := range out.Uses {
		request := rendering.Request{
			Chart: packed, ReleaseName: use.ReleaseName, Namespace: use.Namespace, Values: [][]byte{use.Mirrored},
			IsUpgrade: use.IsUpgrade, KubeVersion: r.KubeVersion, OnlyServed: r.OnlyServed, FindUnread: r.FindUnread,
			IsHelm3: use.IsHelm3,
		}
		if !bytes.Equal(use.Original, use.Mirrored) {
			request.Values = append(request.Values, use.Original)
		}
		answer, err := r.Sandbox.Render(ctx, request)
		if err == nil {
			err = check(reference, answer)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", reference, err)
		}
		out.Schema = answer.Schema
		last := len(answer.Renders) - 1
		if has := answer.Version; strings.TrimPrefix(has, "v") != strings.TrimPrefix(reference.Version, "v") {
			out.OtherVersion = has
		}
		out.Rendered = append(out.Rendered, Pair{Mirrored: answer.Renders[0], Original: answer.Renders[last]})
	}
	return nil
}

// FetchError is the error of a source that does not return a chart.
type FetchError struct{ Err error }

// Error returns that error.
func (e *FetchError) Error() string { return e.Err.Error() }

// Unwrap returns it.
func (e *FetchError) Unwrap() error { return e.Err }

// Errors of an archive that is not the chart that was asked for.
var (
	ErrNoChart    = errors.New("its archive is no chart that Helm can read")
	ErrOtherChart = errors.New("its archive has the chart")
)

// check refuses an archive of another chart than the one that was asked for.
func check(want fetching.Reference, got rendering.Answer) error {
	if got.Refused != "" {
		return fmt.Errorf("%w: %s", ErrNoChart, got.Refused)
	}
	if name := path.Base(want.Name); got.Name != name {
		return fmt.Errorf("%w %q", ErrOtherChart, got.Name)
	}
	return nil
}

// SPDX-License-Identifier: Apache-2.0

package render

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/contents"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/identity"
	"github.com/winnow-dev/winnow/render/mention"
	"github.com/winnow-dev/winnow/render/options"
	"github.com/winnow-dev/winnow/render/refusal"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/render/transform"
)

// Addresses are the hosts that an application refers to after the mirrors have rewritten it.
type Addresses struct {
	// Application is the metadata.name.
	Application string
	// Hosts in its document.
	Hosts []transform.Host
	// Unreadable is the reason why its default values cannot be searched, or empty.
	Unreadable string
}

// document is a selected application as it goes into the artifact.
type document struct {
	name     string
	content  []byte
	identity identity.Facts
	// mentioned is what it has of the names in the spec.
	mentioned mention.Document
	Addresses
}

const (
	// defaultMaxAdded is the MaxAdded of Options that have none.
	defaultMaxAdded = 128 << 20
	// hostBytes is about what a host takes in memory, hostText what it takes at least of a document
	// that writes it out.
	hostBytes = 256
	hostText  = 16
)

// added returns how much more memory the document takes than the one that it was made of.
func (d document) added(source int) int64 {
	return int64(max(0, len(d.content)-source) + hostBytes*max(0, len(d.Hosts)-source/hostText))
}

// transformAll transforms the selected applications on all cores; the result has their order.
// The error is an *Error with the reason InvalidSpec that lists every application that cannot
// be transformed as the spec asks.
func transformAll(ctx context.Context, selected []selection.Decision, opts options.Options) ([]document, error) {
	documents := make([]document, len(selected))
	failures := make([]error, len(selected))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	var added atomic.Int64
	limit := cmp.Or(opts.MaxAdded, defaultMaxAdded)
	for i, d := range selected {
		group.Go(func() (err error) {
			defer refusal.Recover(d.Source, "transforming application "+d.Application.Name, &err)
			if ctx.Err() == nil {
				documents[i], failures[i] = transformOne(ctx, d, opts)
			}
			if added.Add(documents[i].added(len(d.Application.Document))) > limit {
				return &refusal.Error{Code: v1alpha1.InvalidSpecReason, Err: fmt.Errorf(
					"the changed applications take over %d bytes more memory than in the catalogs: merge shorter spec.values, or select fewer applications with YAML aliases", limit)}
			}
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("transforming application %s: %w", d.Application.Name, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	if failed := slices.DeleteFunc(failures, func(err error) bool { return err == nil }); len(failed) > 0 {
		return nil, &refusal.Error{Code: v1alpha1.InvalidSpecReason, Err: refusal.Join(failed)}
	}
	return documents, nil
}

func transformOne(ctx context.Context, d selection.Decision, opts options.Options) (document, error) {
	out := document{name: d.Application.Name, content: d.Application.Document, identity: d.Application.Identity, mentioned: mention.Document{Fields: d.Application.SpecFields}}
	if opts.Transform == nil {
		return out, nil
	}
	result, err := opts.Transform.Apply(ctx, transform.Input{
		Application: d.Application, Versions: d.Versions, SourceDigest: d.SourceDigest,
	})
	if err != nil {
		return document{}, err
	}
	out.content, out.identity, out.mentioned.Omitted = result.Document, result.Identity, result.Omitted
	out.Addresses = Addresses{Application: d.Application.Name, Hosts: result.Hosts, Unreadable: result.Unreadable}
	return out, nil
}

// Refer returns the hosts that applications refer to after the mirrors of the options, in the order of the decisions;
// none of contents. It does not require mirrors. It ignores patches, whose content no mirror rewrites. It returns the
// errors of Render.
func Refer(ctx context.Context, selected []selection.Decision, opts options.Options) (_ []Addresses, err error) {
	defer refusal.Recover("", "rendering", &err)
	if opts.Transform == nil {
		unchanged, err := transform.New(transform.Config{})
		if err != nil {
			return nil, err
		}
		opts.Transform = unchanged
	}
	opts.Transform = opts.Transform.Referring()
	objects, _ := contents.Separate(selected)
	documents, err := transformAll(ctx, objects, opts)
	if err != nil {
		return nil, err
	}
	out := make([]Addresses, len(selected))
	for i, d := range selected {
		out[i].Application = d.Application.Name
		if d.Application.IsObject() {
			out[i], documents = documents[0].Addresses, documents[1:]
		}
	}
	return out, nil
}

func addresses(documents []document) []Addresses {
	found := each.Where(documents, func(d document) bool { return len(d.Hosts) > 0 || d.Unreadable != "" })
	return each.Map(found, func(d document) Addresses { return d.Addresses })
}

// Uncovered returns the hosts that an installation of the application needs and that no mirror covers.
func (a Addresses) Uncovered() []transform.Host {
	return each.Where(a.Hosts, func(host transform.Host) bool { return !host.Covered && host.Kind != transform.KindURL })
}

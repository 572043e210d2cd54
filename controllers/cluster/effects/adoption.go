// SPDX-License-Identifier: Apache-2.0

// Package effects compares what is about to be published with live objects: what live objects lose when the new ones
// are applied over them, and which objects Flux prunes. It must not know which changes the safeguards hold.
package effects

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/access"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
	"github.com/winnow-dev/winnow/controllers/cluster/live"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/installation"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Effects are what a publication does to live objects. All fields are required.
type Effects struct {
	*access.Access
	Objects        *live.Objects
	Kustomizations *consumers.Kustomizations
}

// Adopted returns the changes to live definitions that the selection does not publish yet. It leaves out
// definitions that Flux does not change because of a bypass; except where this process could not mark them.
func (e *Effects) Adopted(ctx context.Context, cs *v1alpha1.CatalogSelection,
	published []safeguard.Definition, result *render.Result, state *live.State) ([]safeguard.Change, error) {
	next := state.Consumers.LiveDefinitions(result.Live())
	marked := func(object *guard.Live) bool { return guard.Honored(cs, object) && !state.Unmarked[object.UID] }
	first := cs.Status.Artifact == nil && !state.Consumers.Known
	adoption := guard.Adopt(cs, state.Consumers.LiveDefinitions(published), next, state.Live, first, marked)
	found := newFoundLive(next)
	if err := e.Objects.Read(ctx, adoption.Entering, found.add); err != nil {
		return nil, err
	}
	replaced, err := guard.Replacements(ctx, result, found.settings)
	if err != nil {
		return nil, err
	}
	beside, err := e.beside(ctx, cs, published, result, state)
	if err != nil {
		return nil, err
	}
	changes := slices.Concat(adoption.Changes(found.definitions, replaced), beside)
	return e.Accounts.WithoutUnreadable(ctx, cs, changes, found.kinds)
}

// beside returns what operators that enter do to live objects of others, and what those do to them.
func (e *Effects) beside(ctx context.Context, cs *v1alpha1.CatalogSelection, published []safeguard.Definition,
	result *render.Result, state *live.State) ([]safeguard.Change, error) {
	var live []unstructured.Unstructured
	for _, gvk := range guard.OperatorConflictKinds(result) {
		served, err := e.Kinds.Serves(gvk)
		if err != nil {
			return nil, err
		}
		if !served {
			continue
		}
		err = e.Objects.Each(ctx, gvk, func(u unstructured.Unstructured) { live = append(live, u) })
		if apierrors.IsForbidden(err) {
			e.ReportForbidden(ctx, cs, err, "operators of OLM that others have installed are not guarded; kubectl apply -k config/marks allows it")
		} else if err != nil {
			return nil, err
		}
	}
	var all []safeguard.Change
	for _, item := range state.Consumers.Naming() {
		changes, err := guard.OperatorConflicts(ctx, cs, published, result, live, item.Live)
		if err != nil {
			return nil, err
		}
		for _, change := range changes { // consumers that rename nothing have the same ones
			if !slices.ContainsFunc(all, func(c safeguard.Change) bool { return c.Key == change.Key && c.From == change.From }) {
				all = append(all, change)
			}
		}
	}
	return all, nil
}

// maxSettings bounds the number of definitions whose settings are compared: status.held lists no more.
const maxSettings = 100

// foundLive collects the content of live definitions that the next ones may replace.
type foundLive struct {
	definitions []safeguard.Definition
	// settings has those of the definitions that lose versions, up to maxSettings.
	settings map[safeguard.Key]guard.Settings
	next     map[safeguard.Key]safeguard.Definition
	// kinds maps them to their kinds with the version.
	kinds map[safeguard.Key]schema.GroupVersionKind
}

func newFoundLive(next []safeguard.Definition) *foundLive {
	f := &foundLive{
		settings: map[safeguard.Key]guard.Settings{}, next: make(map[safeguard.Key]safeguard.Definition, len(next)),
		kinds: map[safeguard.Key]schema.GroupVersionKind{},
	}
	for _, d := range next {
		f.next[d.Key()] = d
	}
	return f
}

func (f *foundLive) add(content map[string]any) {
	d := installation.DefinitionOf(content)
	f.definitions = append(f.definitions, d)
	f.kinds[d.Key()] = schema.FromAPIVersionAndKind(d.APIVersion, d.Kind)
	if len(f.settings) < maxSettings && len(safeguard.Adopt([]safeguard.Definition{d}, []safeguard.Definition{f.next[d.Key()]})) > 0 {
		f.settings[d.Key()] = guard.SettingsOf(content)
	}
}

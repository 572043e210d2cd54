// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/installation"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Cluster reads live objects.
type Cluster interface {
	// Read calls do with the content of each object that still exists.
	Read(ctx context.Context, objects []*Live, do func(content map[string]any)) error
	// Each calls do with each object of a kind, and with none if the kind is not served or may not be read.
	Each(ctx context.Context, gvk schema.GroupVersionKind, do func(unstructured.Unstructured)) error
}

// Adoption is a publication over live objects that the selection has not published.
type Adoption struct {
	Selection *v1alpha1.CatalogSelection
	Published []safeguard.Definition
	Result    *render.Result
	// Names are how the Kustomizations of the selection name objects in the cluster, one function each; without any, as the artifact.
	Names []func(safeguard.Key) safeguard.Key
	// Live are the objects of the kinds that were published, or are about to be.
	Live []*Live
	// First is true if nothing was published yet: a definition with the labels of the selection that Flux may delete counts as published
	// then, because a Kustomization may still have it in its inventory after the selection was created again.
	First bool
	// Marked reports whether Flux is about to leave an object alone.
	Marked func(*Live) bool
	// MostSettings bounds the definitions that lose something whose settings are compared. Zero compares the settings of all.
	MostSettings int
}

// Adopted is what a publication does to live objects.
type Adopted struct {
	Changes []safeguard.Change
	// Entering are the live definitions that Flux applies over, and Replaced the settings that they lose.
	Entering []safeguard.Definition
	Replaced map[safeguard.Key]Replaced
}

// Compare returns what the publication does to live objects. Those that Flux leaves alone lose nothing. One of the platform is a change
// whatever its versions, because two controllers would write it in turns.
func (a Adoption) Compare(ctx context.Context, cluster Cluster) (*Adopted, error) {
	if len(a.Names) == 0 {
		a.Names = []func(safeguard.Key) safeguard.Key{func(key safeguard.Key) safeguard.Key { return key }}
	}
	next := a.named(a.Result.Live())
	entering, orphans, changes := a.sort(next)
	adopted := &Adopted{}
	settings, after := map[safeguard.Key]Settings{}, safeguard.ByKey(next)
	err := cluster.Read(ctx, entering, func(content map[string]any) {
		d := installation.DefinitionOf(content)
		adopted.Entering = append(adopted.Entering, d)
		if a.MostSettings == 0 && d.Key().IsDefinition() || len(settings) < a.MostSettings &&
			len(safeguard.Adopt([]safeguard.Definition{d}, []safeguard.Definition{after[d.Key()]})) > 0 {
			settings[d.Key()] = SettingsOf(content)
		}
	})
	if err != nil {
		return nil, err
	}
	if adopted.Replaced, err = replacements(ctx, a.Result, settings); err != nil {
		return nil, err
	}
	lost := safeguard.Adopt(adopted.Entering, next)
	for i, change := range lost {
		if r := adopted.Replaced[change.Key]; !r.Nothing() {
			lost[i].Detail = "; " + r.String()
		}
	}
	beside, err := a.beside(ctx, cluster)
	adopted.Changes = slices.Concat(changes, safeguard.Compare(orphans, next), lost, beside)
	return adopted, err
}

// named returns definitions with the names that they have in the cluster, each once.
func (a Adoption) named(definitions []safeguard.Definition) []safeguard.Definition {
	var named []safeguard.Definition
	seen := map[safeguard.Key]bool{}
	for _, name := range a.Names {
		for _, d := range definitions {
			key := name(d.Key())
			if d.Namespace, d.Name = key.Namespace, key.Name; !seen[key] {
				seen[key] = true
				named = append(named, d)
			}
		}
	}
	return named
}

// sort returns the live definitions that the publication is applied over, the orphans that it deletes, and the changes of definitions of
// the platform.
func (a Adoption) sort(next []safeguard.Definition) (entering []*Live, orphans []safeguard.Definition, platform []safeguard.Change) {
	known, enters := keys(a.named(a.Published)), keys(next)
	for _, object := range a.Live {
		key := LiveKey(object)
		switch {
		case known[key] || a.Marked(object) || StaysUntouched(a.Selection, object):
		case enters[key] && OfPlatform(object):
			platform = append(platform, safeguard.Change{Reason: v1alpha1.AdoptionReason, Key: key})
		case enters[key]:
			entering = append(entering, object)
		case a.First && AppliedBy(a.Selection, object) && !Kept(object):
			orphans = append(orphans, safeguard.Definition{APIVersion: object.APIVersion, Kind: object.Kind, Namespace: key.Namespace, Name: object.Name})
		}
	}
	return entering, orphans, platform
}

// beside returns what operators that enter do to live objects of others, and what those do to them.
func (a Adoption) beside(ctx context.Context, cluster Cluster) (all []safeguard.Change, err error) {
	if !slices.ContainsFunc(a.Result.Instances, isOperator) {
		return nil, nil
	}
	var live []unstructured.Unstructured
	for _, gvk := range kinds.Operators() {
		if err := cluster.Each(ctx, gvk, func(u unstructured.Unstructured) { live = append(live, u) }); err != nil {
			return nil, err
		}
	}
	for _, named := range a.Names {
		changes, err := OperatorConflicts(ctx, a.Selection, a.Published, a.Result, live, named)
		if err != nil {
			return nil, err
		}
		for _, change := range changes { // Kustomizations that rename nothing have the same ones
			if !slices.ContainsFunc(all, func(c safeguard.Change) bool { return c.Key == change.Key && c.From == change.From }) {
				all = append(all, change)
			}
		}
	}
	return all, nil
}

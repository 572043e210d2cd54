// SPDX-License-Identifier: Apache-2.0

package comparing

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/kustomized"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Live is a definition that lives in a cluster.
type Live struct {
	Object kustomized.Object
	// Untouched is true if Flux leaves it alone, Kept if Flux does not delete it.
	Untouched, Kept bool
}

// Adopt holds also what live objects lose, and compares the definitions that enter the artifact with live ones of the same key, instead
// of reporting them as added.
func Adopt(ctx context.Context, s *diff.Selection, from, to *Side, live map[safeguard.Key]Live, losses []safeguard.Change) error {
	changes := Hold(ctx, s, from, to, losses)
	var entering []*diff.Application
	var names []string
	for i := range s.Applications {
		a := &s.Applications[i]
		if _, lives := live[a.Key()]; lives && a.Change == diff.Added {
			entering, names = append(entering, a), append(names, a.Name)
		}
	}
	built, err := objects(ctx, to, names)
	if err != nil {
		return fmt.Errorf("comparing with what lives: %w", err)
	}
	d := &differ{from: from, to: to, budget: maxDiffs}
	if slices.ContainsFunc(losses, func(c safeguard.Change) bool { return c.Instance != "" }) {
		if err := d.instances(ctx, s, changes); err != nil {
			return fmt.Errorf("comparing the instances with what lives: %w", err)
		}
	}
	listed := each.Where(s.Applications, func(a diff.Application) bool { return a.Change == diff.Unchanged })
	rest := s.Counts.Unchanged - len(listed)
	for _, a := range entering {
		if err := d.adopt(a, live[a.Key()], built[a.Key()]); err != nil {
			return fmt.Errorf("comparing %s with what lives: %w", a.Name, err)
		}
	}
	s.Counts = diff.Counts{Unchanged: rest}
	for _, a := range s.Applications {
		s.Counts.Add(a)
	}
	return nil
}

// adopt sets the changes that the first apply makes to a live definition.
func (d *differ) adopt(a *diff.Application, live Live, object kustomized.Object) error {
	a.Change, a.Versions = diff.Unchanged, []diff.Version{}
	if a.Untouched = live.Untouched; a.Untouched {
		return nil
	}
	a.Adopted = true
	newer, err := specOf(object)
	if err != nil {
		return err
	}
	older, err := specOf(live.Object)
	if err != nil {
		return err
	}
	before, after := safeguard.DefinitionOf(live.Object), safeguard.DefinitionOf(object)
	d.elsewhere = elsewhere(safeguard.Compare([]safeguard.Definition{before}, []safeguard.Definition{after}))
	d.update(a, before, after, shared(older, newer), newer)
	for i := range a.Versions {
		if a.Versions[i].Change == diff.Removed {
			a.Versions[i].Cause = diff.CauseAdoption
		}
	}
	d.bound(a.Values)
	return nil
}

// specOf returns an object with nothing but its spec, in JSON's types: a cluster and kustomize use others.
func specOf(object kustomized.Object) (kustomized.Object, error) {
	content, err := json.Marshal(object["spec"])
	if err != nil {
		return nil, err
	}
	var spec any
	if err := json.Unmarshal(content, &spec); err != nil {
		return nil, err
	}
	return kustomized.Object{"spec": spec}, nil
}

// shared returns the fields of a live object that an apply can change: those that the newer one sets. Lists
// are replaced as a whole.
func shared(live, newer map[string]any) map[string]any {
	kept := map[string]any{}
	for name, value := range live {
		sets, ok := newer[name]
		if !ok {
			continue
		}
		from, isMapping := value.(map[string]any)
		to, staysMapping := sets.(map[string]any)
		if isMapping && staysMapping {
			value = shared(from, to)
		}
		kept[name] = value
	}
	return kept
}

// SPDX-License-Identifier: Apache-2.0

package comparing

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/contents"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/installation"
	"github.com/winnow-dev/winnow/render/kustomized"
	"github.com/winnow-dev/winnow/render/monitoring"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/selection"
)

// Subject is what two states are compared of.
type Subject int

const (
	// Selection is a CatalogSelection in a cluster.
	Selection Subject = iota
	// Stage gets an artifact that was rendered before, which does not say from which spec and catalogs: the safeguards are the
	// default ones.
	Stage
	// Catalog has all applications of one catalog, which nothing publishes.
	Catalog
)

// Side is one of the two states of a subject.
type Side struct {
	Subject Subject
	// Selection is nil for other subjects.
	Selection *v1alpha1.CatalogSelection
	// Sources are none of a stage, and one of a catalog.
	Sources []guard.Source
	Result  *render.Result
	// Empty is the reason why the controller would not publish the result; nil when it does.
	Empty error
	// Lines name losses: in spec.safeguards.approve, or the annotation of a stage. A line that the older state has names no loss
	// of the newer one.
	Lines []string
}

// Render renders a selection over its sources. An empty selection is no error.
func Render(ctx context.Context, cs *v1alpha1.CatalogSelection, sources []guard.Source) (*Side, error) {
	opts, err := render.FromSpec(cs)
	if err != nil {
		return nil, err
	}
	return (&Side{Selection: cs, Sources: sources, Lines: cs.Spec.Safeguards.Approve}).render(ctx, opts)
}

// RenderCatalog renders all applications of a catalog. It selects by name, as KKP's system applications require, and omits no
// field.
func RenderCatalog(ctx context.Context, source selection.Source) (*Side, error) {
	var opts render.Options
	opts.Criteria.Names = each.Map(source.Catalog.Applications, func(a *catalog.Application) string { return a.Name })
	name := types.NamespacedName{Namespace: "default", Name: "catalog"}
	sources := []guard.Source{{Kind: "OCIRepository", Name: name, Checksum: source.Digest, Catalog: source.Catalog}}
	return (&Side{Subject: Catalog, Sources: sources}).render(ctx, opts)
}

func (s *Side) render(ctx context.Context, opts render.Options) (_ *Side, err error) {
	s.Result, err = render.Render(ctx, guard.Selections(s.Sources), opts)
	if refused, ok := errors.AsType[*render.Error](err); ok && refused.Reason() == v1alpha1.EmptyResultReason {
		s.Empty = err
		opts.AllowEmpty = true
		s.Result, err = render.Render(ctx, guard.Selections(s.Sources), opts)
	}
	return s, err
}

// monitoringLosses returns what the state takes from the monitoring of KKP's user clusters; nothing for nil.
func (s *Side) monitoringLosses() []monitoring.Loss {
	if s == nil {
		return nil
	}
	return monitoring.Losses(&s.Selection.Spec, s.Result.Selection)
}

// reviewed returns the lines of the older state; none for nil.
func (s *Side) reviewed() []string {
	if s == nil {
		return nil
	}
	return s.Lines
}

// Published returns the definitions of the state as a publication of the controller; none for nil.
func (s *Side) Published() []safeguard.Definition {
	if s == nil || s.Empty != nil {
		return nil
	}
	return s.Result.Compared()
}

// result returns the render; an empty one of no state.
func (s *Side) result() *render.Result {
	if s == nil {
		return &render.Result{}
	}
	return s.Result
}

// hasNoObjects reports whether a cluster has no object of the artifact to compare with.
func (s *Side) hasNoObjects() bool { return len(s.result().Live()) == 0 }

func (s *Side) state() *diff.State {
	if s == nil {
		return nil
	}
	decided := s.Result.Selection
	state := &diff.State{Available: decided.Available, Selected: decided.Selected, Sources: []diff.Source{}}
	if s.Subject != Catalog {
		state.Revision = s.Result.Revision
	}
	for _, source := range s.Sources {
		state.Sources = append(state.Sources, diff.Source{
			Kind: source.Kind, Namespace: source.Name.Namespace, Name: source.Name.Name, Checksum: source.Checksum,
		})
	}
	return state
}

// contents are the applications of an artifact that are no objects of Kubernetes.
func (s *Side) contents() map[safeguard.Key]selection.Decision {
	found := map[safeguard.Key]selection.Decision{}
	if len(s.result().Contents) == 0 {
		return found
	}
	for _, d := range s.Result.Selection.Applications() {
		if !d.Application.IsObject() {
			found[contents.Definition(d).Key()] = d
		}
	}
	return found
}

// instances maps the names of the instances to them.
func (s *Side) instances() map[string]*installation.Instance {
	all := map[string]*installation.Instance{}
	instances := s.result().Instances
	for i := range instances {
		all[instances[i].Name] = &instances[i]
	}
	return all
}

// served returns the catalog that serves the packages of an artifact.
func (s *Side) served(ctx context.Context) (kustomized.Object, *safeguard.Key, error) {
	object, err := s.result().ServedObject(ctx)
	return object, s.result().Served, err
}

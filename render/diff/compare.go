package diff

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Side is one of the two states of a selection.
type Side struct {
	Selection *v1alpha1.CatalogSelection
	Sources   []guard.Source
	Result    *render.Result
	// Empty is the reason why the controller would not publish the result; nil when it does.
	Empty error
	// Reviewed are the entries of spec.safeguards.approve that the older state has as well: they do not
	// approve changes of the newer one.
	Reviewed []string
}

// Render renders a selection over its sources. An empty selection is no error.
func Render(ctx context.Context, cs *v1alpha1.CatalogSelection, sources []guard.Source) (*Side, error) {
	opts, err := render.FromSpec(cs)
	if err != nil {
		return nil, err
	}
	side := &Side{Selection: cs, Sources: sources}
	side.Result, err = render.Render(ctx, guard.Selections(sources), opts)
	var refused *render.Error
	if errors.As(err, &refused) && refused.Reason() == v1alpha1.EmptyResultReason {
		side.Empty = err
		opts.AllowEmpty = true
		side.Result, err = render.Render(ctx, guard.Selections(sources), opts)
	}
	return side, err
}

// Published returns the state as a publication of the controller.
func (s *Side) Published() guard.Published {
	if s == nil || s.Empty != nil {
		return guard.Published{}
	}
	spec := guard.RenderedSpec(s.Selection)
	return guard.Published{
		Spec: &spec, Definitions: s.Result.Compared(), Sources: guard.Record(s.Sources, s.Result.Compared()),
	}
}

func (s *Side) definitions() []safeguard.Definition {
	if s == nil {
		return nil
	}
	return s.Result.Definitions
}

// compared returns what the safeguards compare: the definitions, and the main objects of instances.
func (s *Side) compared() []safeguard.Definition {
	if s == nil {
		return nil
	}
	return s.Result.Compared()
}

// hasNoObjects reports whether a cluster has no object of the artifact to compare with.
func (s *Side) hasNoObjects() bool { return s == nil || len(s.Result.Live()) == 0 }

func (s *Side) state() *State {
	if s == nil {
		return nil
	}
	decided := s.Result.Selection
	state := &State{
		Revision: s.Result.Revision, Available: decided.Available, Selected: decided.Selected, Sources: []Source{},
	}
	for _, source := range s.Sources {
		state.Sources = append(state.Sources, Source{
			Kind: source.Kind, Namespace: source.Name.Namespace, Name: source.Name.Name, Checksum: source.Checksum,
		})
	}
	return state
}

// statuses returns the sources as in status.sources after a publication.
func (s *Side) statuses() []v1alpha1.SourceStatus {
	if s == nil || s.Empty != nil {
		return nil
	}
	var all []v1alpha1.SourceStatus
	for _, source := range s.Sources {
		all = append(all, v1alpha1.SourceStatus{
			Kind: source.Kind, Namespace: source.Name.Namespace, Name: source.Name.Name, Revision: source.Checksum,
		})
	}
	return all
}

// NewSelection returns the report on a selection without any comparison.
func NewSelection(cs *v1alpha1.CatalogSelection) *Selection {
	return &Selection{
		Namespace: cs.Namespace, Name: cs.Name, Change: Updated,
		Applications: []Application{}, Loosened: []Loosened{}, Moves: []Move{}, Bypassed: []string{}, Replaced: []Settings{},
		Notes: []string{}, Unknown: []string{},
	}
}

// Compare returns the changes from from to to. Either may be nil, where the selection does not exist.
// adopted are the losses of live definitions that from does not have.
func Compare(ctx context.Context, from, to *Side, adopted []safeguard.Change) (*Selection, error) {
	some := to
	if some == nil {
		some = from
	}
	out := NewSelection(some.Selection)
	out.From, out.To = from.state(), to.state()
	out.NothingLives = from.hasNoObjects() && to.hasNoObjects()
	switch {
	case to == nil:
		out.Change = Removed
		return out, nil
	case from == nil:
		out.Change = Added
	case from.Result.Revision == to.Result.Revision:
		out.Change = Unchanged
	}
	out.Notes = append(out.Notes, unmatched(to)...)
	out.SpecChanged = from != nil &&
		!equality.Semantic.DeepEqual(guard.RenderedSpec(from.Selection), guard.RenderedSpec(to.Selection))
	verdict := guard.Decide(ctx, from.Published(), guard.Next{
		Selection: to.Selection, Sources: to.Sources, Result: to.Result, Adopted: adopted,
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if out.Change != Unchanged || to.Empty != nil {
		out.Held = held(from, to, verdict)
		if out.Held != nil && !out.Held.Approved {
			out.Held.SecondSources = secondSources(ctx, from, to, verdict.Held)
		}
	}
	d := &differ{from: from, to: to, byCatalog: causes(verdict.ByCatalog), elsewhere: elsewhere(verdict.Changes), stranded: stranded(verdict.Changes), budget: maxDiffs}
	if err := d.applications(out); err != nil {
		return nil, fmt.Errorf("comparing the artifacts of %s: %w", some.Selection.Name, err)
	}
	if err := d.instances(out, verdict.Changes); err != nil {
		return nil, fmt.Errorf("comparing the instances of %s: %w", some.Selection.Name, err)
	}
	if err := d.served(out); err != nil {
		return nil, fmt.Errorf("comparing the catalogs that %s serves: %w", some.Selection.Name, err)
	}
	out.Loosened = d.loosened()
	return out, nil
}

func held(from, to *Side, verdict guard.Verdict) *Held {
	h := &Held{Approve: []string{}, BaseApprovals: []string{}}
	if to.Empty != nil {
		// No approval releases an empty result.
		h.Reasons = []v1alpha1.HeldReason{{Reason: v1alpha1.EmptyResultReason, Message: to.Empty.Error()}}
		return h
	}
	if len(verdict.Held) == 0 {
		return nil
	}
	h.Reasons = guard.Reasons(verdict.Held, to.Result.Selection)
	entries := to.Selection.Spec.Safeguards.Approve
	needed := guard.ToApprove(from.statuses(), to.Sources, to.Result.Revision)
	h.Render = needed.Render
	missing := guard.Approval{Needed: needed.Missing(guard.Unused(entries, to.Reviewed)), Render: needed.Render}
	if h.Approved = len(missing.Needed) == 0; h.Approved {
		return h
	}
	h.Approve = sorted(missing.Lines(to.Reviewed))
	for _, entry := range entries {
		sum, _, _ := strings.Cut(entry, "#")
		if slices.Contains(to.Reviewed, entry) && (sum == needed.Render || slices.Contains(needed.Needed, sum)) {
			h.BaseApprovals = append(h.BaseApprovals, entry)
		}
	}
	return h
}

// NamesRender reports whether an entry of spec.safeguards.approve names the render, and not a source.
func (h *Held) NamesRender(entry string) bool {
	checksum, _, _ := strings.Cut(entry, "#")
	return checksum == h.Render
}

// AssumeNamespace notes, where the checksum of the render would approve what is held, that the selection was rendered
// in a namespace that its file does not have: a render has the namespace in each object.
func (s *Selection) AssumeNamespace() {
	if s.Held != nil && slices.ContainsFunc(s.Held.Approve, s.Held.NamesRender) {
		s.Notes = append(s.Notes, "its file has no namespace: with another one than default, the checksum of this render is another")
	}
}

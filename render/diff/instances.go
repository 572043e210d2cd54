package diff

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/instance"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Instance has the changes of one instance.
type Instance struct {
	Name        string `json:"name"`
	Application string `json:"application"`
	// Source is the name of the source of the application; empty for an instance that neither state installs.
	Source string `json:"source,omitempty"`
	// Change is added, removed, updated or unresolved.
	Change Change `json:"change"`
	// Version that is installed, where it stays; empty for a definition without versions.
	Version string `json:"version,omitempty"`
	// Upgrade is the change of the version; nil where it stays.
	Upgrade *Step `json:"upgrade,omitempty"`
	// Requested is the change of the version in the spec; nil where it stays.
	Requested *Field `json:"requested,omitempty"`
	// Backend that installs it.
	Backend string `json:"backend,omitempty"`
	// Object is <kind> <namespace>/<name> of its main object.
	Object string `json:"object,omitempty"`
	// Reason why it cannot be installed, or why it is removed.
	Reason string `json:"reason,omitempty"`
	// VersionGone is true if the application is selected, and has no such version.
	VersionGone bool `json:"versionGone,omitempty"`
	// Deleted is true for a removal if Flux deletes the main object, where the Kustomization prunes: then what runs is
	// uninstalled. Nil for other changes.
	Deleted *bool `json:"deleted,omitempty"`
	// SourceChanged is true if the same version comes from another chart, repository or commit.
	SourceChanged bool `json:"sourceChanged,omitempty"`
	// Identity are the changed fields of those that decide which live release is meant: what runs is uninstalled, and
	// installed anew.
	Identity []Field `json:"identity,omitempty"`
	// Values is the change of its values, with the default values of the definition under them; nil when they stay.
	Values *Values `json:"values,omitempty"`
	// Fields are the first of the other changes of its objects, and the number of further ones.
	Fields        []Field `json:"fields,omitempty"`
	FieldsOmitted int     `json:"fieldsOmitted,omitempty"`
}

// instances sets the changes of the instances. changes are those that the safeguards find.
func (d *differ) instances(out *Selection, changes []safeguard.Change) error {
	older, newer := d.from.instances(), d.to.instances()
	var differing []string
	for name := range older {
		if newer[name] == nil || !d.from.Result.SameInstance(d.to.Result, name) {
			differing = append(differing, name)
		}
	}
	for name := range newer {
		if older[name] == nil {
			differing = append(differing, name)
		}
	}
	differing = sorted(differing)
	c, err := d.built(differing)
	if err != nil {
		return err
	}
	c.changes = changes
	var all []Instance
	for _, name := range differing {
		if in := c.compare(older[name], newer[name]); in.differs() {
			all = append(all, in)
		}
	}
	for _, u := range d.to.unresolved() {
		if older[u.Name] == nil {
			all = append(all, Instance{Name: u.Name, Application: u.Application, Change: Unresolved, Reason: u.Reason, VersionGone: u.OfVersion})
		}
	}
	slices.SortFunc(all, func(a, b Instance) int { return cmp.Compare(a.Name, b.Name) })
	for i := range all {
		if values := all[i].Values; values != nil {
			values.Cut(d.budget)
			d.budget -= len(values.Diff)
		}
	}
	out.Instances = all
	return nil
}

func (s *Side) instances() map[string]*render.Instance {
	all := map[string]*render.Instance{}
	if s == nil {
		return all
	}
	for i := range s.Result.Instances {
		all[s.Result.Instances[i].Name] = &s.Result.Instances[i]
	}
	return all
}

func (s *Side) unresolved() []instance.Unresolved {
	if s == nil {
		return nil
	}
	return s.Result.Unresolved
}

// instanceDiffer compares instances of two sides.
type instanceDiffer struct {
	*differ

	before, after map[safeguard.Key]render.Object
	changes       []safeguard.Change
}

// built builds the objects of the instances on both sides.
func (d *differ) built(names []string) (*instanceDiffer, error) {
	c := &instanceDiffer{differ: d}
	for _, side := range []struct {
		side *Side
		into *map[safeguard.Key]render.Object
	}{{d.from, &c.before}, {d.to, &c.after}} {
		if side.side == nil {
			continue
		}
		var err error
		if *side.into, err = side.side.Result.InstanceObjects(names); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// compare compares an instance, which one of the sides may lack.
func (d *instanceDiffer) compare(before, after *render.Instance) Instance {
	some := cmp.Or(after, before)
	out := Instance{
		Name: some.Name, Application: some.Application, Source: some.Source, Version: some.Version, Backend: some.Backend,
		Object: strings.TrimSpace(some.Main.Kind + " " + some.Main.Key().FullName()), Change: Updated,
	}
	switch {
	case before == nil:
		out.Change = Added
		return out
	case after == nil:
		d.remove(&out, before)
		return out
	}
	out.Upgrade = upgradeOf(before.Version, after.Version)
	if before.Requested != after.Requested {
		out.Requested = &Field{Path: "version", From: textOf(before.Requested), To: textOf(after.Requested)}
	}
	for _, c := range d.changes {
		switch {
		case c.Instance != out.Name:
		case c.Reason == v1alpha1.IdentityChangeReason:
			out.Identity = append(out.Identity, Field{Path: c.Field, From: asJSON(c.From), To: asJSON(c.To)})
		case c.Reason == v1alpha1.SourceChangeReason:
			out.SourceChanged = true
		}
	}
	d.objects(&out, before, after)
	return out
}

// differs reports whether anything differs besides what the comparison leaves out.
func (in Instance) differs() bool {
	return in.Change != Updated || in.Upgrade != nil || in.Requested != nil || in.SourceChanged || len(in.Identity) > 0 || in.Values != nil || len(in.Fields) > 0
}

// remove sets why an instance leaves, and what becomes of it.
func (d *instanceDiffer) remove(out *Instance, before *render.Instance) {
	deleted := !protected(d.before[before.Main.Key()])
	out.Change, out.Deleted, out.Reason = Removed, &deleted, notInSpec
	i := slices.IndexFunc(d.to.unresolved(), func(u instance.Unresolved) bool { return u.Name == out.Name })
	if i >= 0 {
		u := d.to.unresolved()[i]
		out.Reason, out.VersionGone = u.Reason, u.OfVersion
	}
}

// notInSpec is why an instance is gone that the edit has removed.
const notInSpec = "spec.instances does not have it"

func textOf(version string) string {
	if version == "" {
		return ""
	}
	return asJSON(version)
}

// upgradeOf returns the change of the installed version, nil where it stays.
func upgradeOf(from, to string) *Step {
	if from == to {
		return nil
	}
	s := &Step{From: from, To: to, Kind: StepOther}
	before, err := semver.NewVersion(from)
	if err != nil {
		return s
	}
	after, err := semver.NewVersion(to)
	if err != nil {
		return s
	}
	if s.Kind = stepKind(before, after); s.Kind == StepLower {
		s.Kind = StepDowngrade
	}
	return s
}

// Major reports whether the instance rises to another major version, or to a version that cannot be compared.
func (in Instance) Major() bool {
	u := in.Upgrade
	return u != nil && u.Kind != StepDowngrade && safeguard.Change{From: u.From, To: u.To}.IsMajor()
}

// LosesVersion reports whether the version of the instance is gone, or a lower one replaces it.
func (in Instance) LosesVersion() bool {
	return in.Change == Removed && in.VersionGone || in.Upgrade != nil && in.Upgrade.Kind == StepDowngrade
}

// EditError returns what the API server refuses of an edit of a selection; nil for nothing.
func EditError(from, to *v1alpha1.CatalogSelection) error {
	was, is := cmp.Or(from.Spec.Definitions, v1alpha1.DefinitionsPublish), cmp.Or(to.Spec.Definitions, v1alpha1.DefinitionsPublish)
	if was == is {
		return nil
	}
	return &render.Error{Code: v1alpha1.InvalidSpecReason, Field: "spec.definitions", Err: fmt.Errorf(
		"the API server refuses a change from %s to %s: make a second CatalogSelection", was, is)}
}

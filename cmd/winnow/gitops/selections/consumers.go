package selections

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// consumersOf returns the consumers of a selection, sorted by name and place. A cluster of the selection, or a namespace,
// that is unknown may be any.
func (r *revision) consumersOf(cs *placedSelection) []placedConsumer {
	var found []placedConsumer
	for _, k := range r.consumers {
		namespace, name, _ := strings.Cut(k.artifact, "/")
		anywhere := namespace == "" || cs.Namespace == "" || namespace == cs.Namespace
		if k.kind == sourcev1.ExternalArtifactKind && name == cs.Name && anywhere && (cs.knownCluster() == "" || k.cluster == cs.cluster) {
			found = append(found, k)
		}
	}
	slices.SortFunc(found, func(a, b placedConsumer) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.cluster, b.cluster), cmp.Compare(a.file, b.file))
	})
	return found
}

// consumers returns the consumers of a selection in both commits: those in its directory, if either commit has one there.
func (c *comparison) consumers(p pair) (before, after []placedConsumer) {
	beside := func(cs *placedSelection) func(placedConsumer) bool {
		return func(k placedConsumer) bool { return k.cluster == cs.cluster }
	}
	from, to := cmp.Or(p.from, p.to), cmp.Or(p.to, p.from)
	if p.from != nil {
		before = c.base.consumersOf(from)
	}
	after = c.head.consumersOf(to) // a Kustomization may remain without its source
	if slices.ContainsFunc(before, beside(from)) || slices.ContainsFunc(after, beside(to)) {
		before = slices.DeleteFunc(before, func(k placedConsumer) bool { return !beside(from)(k) })
		after = slices.DeleteFunc(after, func(k placedConsumer) bool { return !beside(to)(k) })
	}
	return before, after
}

// consumerChanges are the changes of the consumers of a selection.
type consumerChanges struct {
	// notes are sentences on the consumers, and unknown are sentences on changes that are not evaluated.
	notes, unknown []string
}

// compareConsumers compares the consumers of a selection in both commits.
func (c *comparison) compareConsumers(p pair) consumerChanges {
	before, after := c.consumers(p)
	var out consumerChanges
	for older, newer := range match(before, after,
		func(a, b placedConsumer) bool { return a.name == b.name && a.isAt(b.origin) },
		func(a, b placedConsumer) bool { return a.name == b.name },
	) {
		switch {
		case older != nil && newer != nil && (p.to == nil || sameName(*p.from, *p.to)):
			out.differ(*older, *newer)
			out.reapplied(*older, *newer, p.from)
		case older != nil:
			out.switched(*older, c.head.consumers, p.from)
		case !out.taken(*newer, c.base.consumers) && p.from != nil:
			out.notes = append(out.notes, "its Kustomization "+newer.name+" is new")
		}
	}
	out.unknown = append(out.unknown, c.deletedContainers(p, before)...)
	return out
}

// switched reports a Kustomization that is removed or applies another artifact.
func (o *consumerChanges) switched(older placedConsumer, head []placedConsumer, cs *placedSelection) {
	i := slices.IndexFunc(head, func(k placedConsumer) bool { return k.cluster == older.cluster && k.name == older.name })
	if i < 0 {
		o.removed(older, cs)
		return
	}
	newer := head[i]
	if o.reapplied(older, newer, cs); newer.source() == older.source() {
		return
	}
	if newer.kind == older.kind {
		o.differ(older, newer)
	}
	o.notes = append(o.notes, fmt.Sprintf("its Kustomization %s applies %s instead", newer.name, newer.source()))
	if newer.prune && cs.hasPruned() {
		o.prunes(older, newer)
	}
}

// taken reports a Kustomization that applied another source than an artifact before, and whether it did.
func (o *consumerChanges) taken(newer placedConsumer, base []placedConsumer) bool {
	i := slices.IndexFunc(base, func(k placedConsumer) bool {
		return k.cluster == newer.cluster && k.name == newer.name && k.kind != newer.kind
	})
	if i >= 0 && newer.prune {
		o.prunes(base[i], newer)
	}
	return i >= 0
}

func (o *consumerChanges) prunes(older, newer placedConsumer) {
	o.unknown = append(o.unknown, fmt.Sprintf("Kustomization %s applies %s instead of %s, and prunes: Flux deletes objects that the new one lacks",
		newer.name, newer.source(), older.source()))
}

// source returns the source of a consumer for a message.
func (k placedConsumer) source() string {
	if k.kind == sourcev1.ExternalArtifactKind {
		return k.artifact
	}
	return k.kind + " " + k.artifact
}

// reapplied reports a Kustomization that another one applies now. The former one deletes it, unless the other one is first,
// and with it its objects.
func (o *consumerChanges) reapplied(older, newer placedConsumer, cs *placedSelection) {
	if older.cluster != newer.cluster || slices.Equal(older.appliers, newer.appliers) || !older.deletes || !cs.hasPruned() {
		return
	}
	o.unknown = append(o.unknown, fmt.Sprintf("Kustomization %s, which applies %s, is applied by %s, and was by %s, which may delete it, and so its objects, first",
		older.name, older.artifact, appliersOf(newer.origin), appliersOf(older.origin)))
}

// appliersOf returns the Kustomizations that lead to an object for a message.
func appliersOf(o origin) string {
	return cmp.Or(strings.Join(slices.DeleteFunc(slices.Clone(o.appliers), func(name string) bool { return name == "" }), " by "), "the directory")
}

// removed reports whether Flux deletes the objects of a Kustomization that is removed.
func (o *consumerChanges) removed(older placedConsumer, cs *placedSelection) {
	if !older.deletes || !cs.hasPruned() {
		o.notes = append(o.notes, "its Kustomization "+older.name+" is removed: its objects stay")
		return
	}
	o.notes = append(o.notes, "its Kustomization "+older.name+" is removed: Flux deletes its objects")
	o.unknown = append(o.unknown, fmt.Sprintf("Kustomization %s, which applies %s, is removed, and Flux deletes its objects: the consequences are known in the cluster only",
		older.name, older.artifact))
}

// hasPruned reports whether the artifact may have objects that Flux deletes when they leave: all of them, or what belongs
// to instances, such as their sources and default values.
func (s *placedSelection) hasPruned() bool {
	return s.invalid != nil || s.Spec.DeletionPolicy == v1alpha1.DeletionPolicyDelete || len(s.Spec.Instances) > 0
}

// differ compares the fields of a Kustomization. Changes of timing are notes, unless it is resumed. Other changes affect
// the objects and are unknown.
func (o *consumerChanges) differ(older, newer placedConsumer) {
	if !slices.Equal(older.unknown, newer.unknown) || older.hidden != newer.hidden {
		o.unknown = append(o.unknown, fmt.Sprintf("Kustomization %s, which applies %s: %s", newer.name, newer.artifact,
			strings.Join(append(slices.Clone(older.unknown), newer.unknown...), "; ")))
	}
	if older.spec["suspend"] == true && newer.spec["suspend"] != true || older.untouched && !newer.untouched {
		o.unknown = append(o.unknown, fmt.Sprintf("Kustomization %s, which applies %s, is resumed: what it has applied is older than the commit before",
			newer.name, newer.artifact))
	}
	fields := maps.Clone(older.spec)
	maps.Copy(fields, newer.spec)
	timing := []string{"interval", "retryInterval", "timeout", "wait", "dependsOn", "healthChecks", "healthCheckExprs", "suspend", "prune", "deletionPolicy"}
	var notes, unknown []string
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		switch {
		case field == "sourceRef", equality.Semantic.DeepEqual(older.spec[field], newer.spec[field]): // the artifacts are compared
		case slices.Contains(timing, field):
			notes = append(notes, fmt.Sprintf("spec.%s is %v, was %v", field, shownField(newer.spec[field]), shownField(older.spec[field])))
		default:
			unknown = append(unknown, "spec."+field)
		}
	}
	if len(notes) > 0 {
		o.notes = append(o.notes, "its Kustomization "+newer.name+" differs: "+strings.Join(notes, ", "))
	}
	if len(unknown) > 0 {
		o.unknown = append(o.unknown, fmt.Sprintf("Kustomization %s, which applies %s, differs in %s: the effect on the applications is not evaluated",
			newer.name, newer.artifact, strings.Join(unknown, ", ")))
	}
}

func shownField(value any) any {
	if value == nil {
		return "not set"
	}
	return value
}

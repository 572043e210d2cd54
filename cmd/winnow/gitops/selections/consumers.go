package selections

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// consumersOf maps the names of the consumers of a selection to the consumers.
func (r *revision) consumersOf(cs *placedSelection) map[string]placedConsumer {
	found := map[string]placedConsumer{}
	if cs == nil || cs.cluster == "" {
		return found
	}
	for _, consumer := range r.consumers {
		if consumer.cluster == cs.cluster && consumer.artifact == cs.Namespace+"/"+cs.Name {
			found[consumer.name] = consumer
		}
	}
	return found
}

// consumerChanges are the changes of the consumers of a selection.
type consumerChanges struct {
	// notes are sentences on the consumers, and unknown are sentences on changes that are not evaluated.
	notes, unknown []string
}

// compareConsumers compares the consumers of a selection in both commits.
func (c *comparison) compareConsumers(p pair) consumerChanges {
	before, after := c.base.consumersOf(p.from), c.head.consumersOf(p.to)
	if p.to == nil {
		// The Kustomization may remain without its source.
		after = c.head.consumersOf(p.from)
	}
	names := maps.Clone(before)
	maps.Copy(names, after)
	var out consumerChanges
	for _, name := range slices.Sorted(maps.Keys(names)) {
		older, had := before[name]
		newer, has := after[name]
		switch {
		case had && has:
			out.differ(older, newer)
		case had:
			out.switched(older, c.head.consumers, p.from)
		case p.from != nil:
			out.notes = append(out.notes, "its Kustomization "+name+" is new")
		}
	}
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
	o.notes = append(o.notes, fmt.Sprintf("its Kustomization %s applies %s instead", newer.name, newer.artifact))
	if newer.prune && cs.Spec.DeletionPolicy == v1alpha1.DeletionPolicyDelete {
		o.unknown = append(o.unknown, fmt.Sprintf("Kustomization %s applies %s instead of %s, and prunes: Flux deletes objects that the new one lacks",
			newer.name, newer.artifact, older.artifact))
	}
}

// removed reports whether Flux deletes the objects of a Kustomization that is removed.
func (o *consumerChanges) removed(older placedConsumer, cs *placedSelection) {
	if !older.deletes || cs.Spec.DeletionPolicy != v1alpha1.DeletionPolicyDelete {
		o.notes = append(o.notes, "its Kustomization "+older.name+" is removed: its objects stay")
		return
	}
	o.notes = append(o.notes, "its Kustomization "+older.name+" is removed: Flux deletes its objects")
	o.unknown = append(o.unknown, fmt.Sprintf("Kustomization %s, which applies %s, is removed, and Flux deletes its objects: the consequences are known in the cluster only",
		older.name, older.artifact))
}

// differ compares the fields of a Kustomization. Changes of timing are notes. Other changes affect the
// objects and are unknown.
func (o *consumerChanges) differ(older, newer placedConsumer) {
	if !slices.Equal(older.unknown, newer.unknown) || older.hidden != newer.hidden {
		o.unknown = append(o.unknown, fmt.Sprintf("Kustomization %s, which applies %s: %s", newer.name, newer.artifact,
			strings.Join(append(slices.Clone(older.unknown), newer.unknown...), "; ")))
	}
	fields := maps.Clone(older.spec)
	maps.Copy(fields, newer.spec)
	timing := []string{"interval", "retryInterval", "timeout", "wait", "dependsOn", "healthChecks", "healthCheckExprs", "suspend", "prune", "deletionPolicy"}
	var notes, unknown []string
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		switch {
		case equality.Semantic.DeepEqual(older.spec[field], newer.spec[field]):
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

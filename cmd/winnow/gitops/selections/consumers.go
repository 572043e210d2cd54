package selections

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// consumersOf maps names to the consumers of a selection.
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

// consumption is how the consumers of a selection differ.
type consumption struct {
	// notes are on the selection, and unknown is what is not evaluated, in sentences.
	notes, unknown []string
}

// consumption compares the consumers of both commits.
func (c *comparison) consumption(p pair) consumption {
	before, after := c.base.consumersOf(p.from), c.head.consumersOf(p.to)
	if p.to == nil {
		// The Kustomization may stay, without its source.
		after = c.head.consumersOf(p.from)
	}
	names := maps.Clone(before)
	maps.Copy(names, after)
	var out consumption
	for _, name := range slices.Sorted(maps.Keys(names)) {
		older, had := before[name]
		newer, has := after[name]
		switch {
		case had && has:
			out.differ(older, newer)
		case had:
			out.left(older, c.head.consumers, p.from)
		case p.from != nil:
			out.notes = append(out.notes, "its Kustomization "+name+" is new")
		}
	}
	return out
}

// left says what becomes of what a Kustomization has applied that is removed, or applies something else.
func (o *consumption) left(older placedConsumer, head []placedConsumer, cs *placedSelection) {
	i := slices.IndexFunc(head, func(k placedConsumer) bool { return k.cluster == older.cluster && k.name == older.name })
	if i < 0 {
		o.removed(older, cs)
		return
	}
	newer := head[i]
	o.notes = append(o.notes, fmt.Sprintf("its Kustomization %s applies %s instead", newer.name, newer.artifact))
	if newer.prune && cs.Spec.DeletionPolicy == v1alpha1.DeletionPolicyDelete {
		o.unknown = append(o.unknown, fmt.Sprintf("Kustomization %s applies %s instead of %s, and prunes: Flux deletes what the new one does not have",
			newer.name, newer.artifact, older.artifact))
	}
}

// removed says what becomes of what a Kustomization has applied.
func (o *consumption) removed(older placedConsumer, cs *placedSelection) {
	if !older.ends || cs.Spec.DeletionPolicy != v1alpha1.DeletionPolicyDelete {
		o.notes = append(o.notes, "its Kustomization "+older.name+" is removed: what it has applied stays")
		return
	}
	o.notes = append(o.notes, "its Kustomization "+older.name+" is removed: Flux deletes what it has applied")
	o.unknown = append(o.unknown, fmt.Sprintf("Kustomization %s, which applies %s, is removed, and Flux deletes what it has applied: what that ends is known in the cluster only",
		older.name, older.artifact))
}

// differ compares the fields of a Kustomization. Those that say when it applies are notes, and the rest
// changes what is applied.
func (o *consumption) differ(older, newer placedConsumer) {
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
		o.unknown = append(o.unknown, fmt.Sprintf("Kustomization %s, which applies %s, differs in %s: what that does to the applications is not evaluated",
			newer.name, newer.artifact, strings.Join(unknown, ", ")))
	}
}

func shownField(value any) any {
	if value == nil {
		return "not set"
	}
	return value
}

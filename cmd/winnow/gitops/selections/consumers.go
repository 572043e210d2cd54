// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/winnow-dev/winnow/cmd/winnow/documents"
)

// consumers returns the consumers of a selection in both commits: those in its directory, if either commit has one there.
func (c *comparison) consumers(p *pair) (before, after []documents.Consumer) {
	beside := func(cs *State) func(documents.Consumer) bool {
		return func(k documents.Consumer) bool { return k.Cluster == cs.Cluster }
	}
	from, to := cmp.Or(p.from, p.to), cmp.Or(p.to, p.from)
	if p.from != nil {
		before = c.base.ConsumersOf(&from.Selection)
	}
	after = c.head.ConsumersOf(&to.Selection) // a Kustomization may remain without its source
	if slices.ContainsFunc(before, beside(from)) || slices.ContainsFunc(after, beside(to)) {
		before = slices.DeleteFunc(before, func(k documents.Consumer) bool { return !beside(from)(k) })
		after = slices.DeleteFunc(after, func(k documents.Consumer) bool { return !beside(to)(k) })
	}
	return before, after
}

// compareConsumers compares the consumers of a selection in both commits.
func (c *comparison) compareConsumers(p *pair) consumerChanges {
	before, after := c.consumers(p)
	var out consumerChanges
	for older, newer := range match(before, after,
		func(a, b documents.Consumer) bool { return a.Name == b.Name && a.IsAt(b.Origin) },
		func(a, b documents.Consumer) bool { return a.Name == b.Name },
	) {
		switch {
		case newer != nil && newer.Lost != "": // its Kustomization is reported
		case older != nil && newer != nil && (p.to == nil || documents.SameName(p.from.Selection, p.to.Selection)):
			out.differ(*older, *newer)
			out.reapplied(*older, *newer, p.from.HasPruned())
		case older != nil:
			out.switched(*older, c.head.Consumers, p.from.HasPruned())
		case !out.taken(*newer, c.base.Consumers) && p.from != nil:
			out.notes = append(out.notes, "its Kustomization "+newer.Name+" is new")
		}
	}
	out.unknown = slices.Concat(out.unknown, c.deletedContainersOf(p, before), p.resumed(), p.filtered())
	return out
}

// switched reports a Kustomization that is removed or applies another artifact. pruned reports whether the artifact may have
// objects that Flux deletes.
func (o *consumerChanges) switched(older documents.Consumer, head []documents.Consumer, pruned bool) {
	i := slices.IndexFunc(head, func(k documents.Consumer) bool { return k.Cluster == older.Cluster && k.Name == older.Name })
	if i < 0 {
		o.removed(older, pruned)
		return
	}
	newer := head[i]
	if o.reapplied(older, newer, pruned); newer.Source() == older.Source() {
		return
	}
	if newer.Kind == older.Kind {
		o.differ(older, newer)
	}
	o.notes = append(o.notes, fmt.Sprintf("its Kustomization %s applies %s instead", newer.Name, newer.Source()))
	if newer.Prune && pruned {
		o.prunes(older, newer)
	}
}

// taken reports a Kustomization that applied another source than an artifact before, and whether it did.
func (o *consumerChanges) taken(newer documents.Consumer, base []documents.Consumer) bool {
	i := slices.IndexFunc(base, func(k documents.Consumer) bool {
		return k.Cluster == newer.Cluster && k.Name == newer.Name && k.Kind != newer.Kind
	})
	if i >= 0 && newer.Prune {
		o.prunes(base[i], newer)
	}
	return i >= 0
}

func (o *consumerChanges) prunes(older, newer documents.Consumer) {
	o.unknown = append(o.unknown, fmt.Sprintf("Kustomization %s applies %s instead of %s, and prunes: Flux deletes objects that the new one lacks",
		newer.Name, newer.Source(), older.Source()))
}

// reapplied reports a Kustomization that another one applies now. The former one deletes it, unless the other one is first,
// and with it its objects.
func (o *consumerChanges) reapplied(older, newer documents.Consumer, pruned bool) {
	if older.Cluster != newer.Cluster || slices.Equal(older.Appliers, newer.Appliers) || !older.Deletes || !pruned {
		return
	}
	o.unknown = append(o.unknown, fmt.Sprintf("Kustomization %s, which applies %s, is applied by %s, and was by %s, which may delete it, and so its objects, first",
		older.Name, older.Source(), documents.AppliersOf(newer.Origin), documents.AppliersOf(older.Origin)))
}

// removed reports whether Flux deletes the objects of a Kustomization that is removed.
func (o *consumerChanges) removed(older documents.Consumer, pruned bool) {
	if !older.Deletes || !pruned {
		o.notes = append(o.notes, "its Kustomization "+older.Name+" is removed: its objects stay")
		return
	}
	o.notes = append(o.notes, "its Kustomization "+older.Name+" is removed: Flux deletes its objects")
	o.unknown = append(o.unknown, fmt.Sprintf("Kustomization %s, which applies %s, is removed, and Flux deletes its objects: the consequences are known in the cluster only",
		older.Name, older.Source()))
}

// differ compares the fields of a Kustomization. Changes of timing are notes, unless it is resumed. Other changes affect
// the objects and are unknown.
func (o *consumerChanges) differ(older, newer documents.Consumer) {
	if !slices.Equal(older.Unknown, newer.Unknown) || older.Hidden != newer.Hidden && (mayHide(older) || mayHide(newer)) {
		reasons := append(slices.Clone(older.Unknown), newer.Unknown...)
		if len(reasons) == 0 {
			reasons = []string{"the variables of its postBuild differ: the effect on the applications is not evaluated"}
		}
		o.unknown = append(o.unknown, fmt.Sprintf("Kustomization %s, which applies %s: %s", newer.Name, newer.Source(), strings.Join(reasons, "; ")))
	}
	if older.Spec["suspend"] == true && newer.Spec["suspend"] != true || older.Untouched && !newer.Untouched {
		o.unknown = append(o.unknown, fmt.Sprintf("Kustomization %s, which applies %s, is resumed: what it has applied is older than the commit before",
			newer.Name, newer.Source()))
	}
	fields := maps.Clone(older.Spec)
	maps.Copy(fields, newer.Spec)
	timing := []string{"interval", "retryInterval", "timeout", "wait", "dependsOn", "healthChecks", "healthCheckExprs", "suspend", "prune", "deletionPolicy"}
	var notes, unknown []string
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		switch {
		case field == "sourceRef", equality.Semantic.DeepEqual(older.Spec[field], newer.Spec[field]): // the artifacts are compared
		case slices.Contains(timing, field):
			notes = append(notes, fmt.Sprintf("spec.%s is %v, was %v", field, shownField(newer.Spec[field]), shownField(older.Spec[field])))
		default:
			unknown = append(unknown, "spec."+field)
		}
	}
	if len(notes) > 0 {
		o.notes = append(o.notes, "its Kustomization "+newer.Name+" differs: "+strings.Join(notes, ", "))
	}
	if len(unknown) > 0 {
		o.unknown = append(o.unknown, fmt.Sprintf("Kustomization %s, which applies %s, differs in %s: the effect on the applications is not evaluated",
			newer.Name, newer.Source(), strings.Join(unknown, ", ")))
	}
}

// mayHide reports whether what is hidden is of a consumer: a plain file has one digest, also of the catalogs of its selections.
func mayHide(k documents.Consumer) bool { return k.Cluster != "" || k.Spec["postBuild"] != nil }

func shownField(value any) any {
	if value == nil {
		return "not set"
	}
	return value
}

// definingGroups are the ends of the API groups of what catalogs have, what instances are, and what applies them.
var definingGroups = []string{
	"kubermatic.k8c.io", "cozystack.io", "operators.coreos.com", "olm.operatorframework.io", "infra.contrib.fluxcd.io",
	"helm.toolkit.fluxcd.io", "kustomize.toolkit.fluxcd.io", "source.toolkit.fluxcd.io", "catalog.winnow.dev",
}

// deletedContainersOf returns the sentences of deletedContainers for a selection and its consumers.
func (c *comparison) deletedContainersOf(p *pair, consumers []documents.Consumer) []string {
	if p.from == nil {
		return nil
	}
	var namespaces []string
	if p.to != nil || p.from.HasPruned() {
		namespaces = append(namespaces, p.from.Namespace)
		for _, k := range consumers {
			namespaces = append(namespaces, k.Namespaces()...)
		}
	}
	return c.deletedContainers(p.from.Cluster, p.any().Cluster, namespaces)
}

// deletedContainers returns a sentence for each object of a cluster that leaves, or that another Kustomization applies, if its
// deletion deletes what is in the namespaces, or applications. to is the cluster in the newer commit.
func (c *comparison) deletedContainers(from, to string, namespaces []string) (unknown []string) {
	if !c.head.Has(to) {
		return nil // Flux deletes nothing without the directory
	}
	for _, k := range c.base.Containers {
		left := k
		left.Cluster = to
		if k.Cluster == from && !slices.Contains(c.head.Containers, left) && holds(k, namespaces) {
			unknown = append(unknown, fmt.Sprintf("%s %s is not applied any more by %s, which may delete it, and all that is in it", k.Kind, k.Name, k.Appliers))
		}
	}
	return unknown
}

// holds reports whether the deletion of a container deletes what is in the namespaces, or applications.
func holds(k documents.Container, namespaces []string) bool {
	if k.Kind == "Namespace" {
		return slices.Contains(namespaces, k.Name)
	}
	return slices.ContainsFunc(definingGroups, func(end string) bool { return strings.HasSuffix(k.Name, "."+end) })
}

package selections

import (
	"fmt"
	"slices"
	"strings"
)

// container is an object whose deletion deletes others.
type container struct{ cluster, kind, name, appliers string }

// containerKinds are the kinds of such objects.
var containerKinds = map[string]bool{"Namespace": true, "CustomResourceDefinition": true}

// definingGroups are the ends of the API groups of what catalogs have, what instances are, and what applies them.
var definingGroups = []string{
	"kubermatic.k8c.io", "cozystack.io", "operators.coreos.com", "olm.operatorframework.io", "infra.contrib.fluxcd.io",
	"helm.toolkit.fluxcd.io", "kustomize.toolkit.fluxcd.io", "source.toolkit.fluxcd.io", "catalog.winnow.dev",
}

// deletedContainers returns a sentence for each object that leaves, or that another Kustomization applies, if its deletion
// deletes a selection, its consumers or its applications.
func (c *comparison) deletedContainers(p pair, consumers []placedConsumer) (unknown []string) {
	if p.from == nil || !c.head.has(p.any().cluster) {
		return nil // Flux deletes nothing without the directory
	}
	for _, k := range c.base.containers {
		left := k
		left.cluster = p.any().cluster
		if k.cluster == p.from.cluster && !slices.Contains(c.head.containers, left) && k.has(p, consumers) {
			unknown = append(unknown, fmt.Sprintf("%s %s is not applied any more by %s, which may delete it, and all that is in it", k.kind, k.name, k.appliers))
		}
	}
	return unknown
}

func (k container) has(p pair, consumers []placedConsumer) bool {
	if k.kind != "Namespace" {
		return slices.ContainsFunc(definingGroups, func(end string) bool { return strings.HasSuffix(k.name, "."+end) })
	}
	of := func(consumer placedConsumer) bool { return strings.HasPrefix(consumer.name, k.name+"/") }
	return (p.to != nil || p.from.hasPruned()) && (k.name == p.from.Namespace || slices.ContainsFunc(consumers, of))
}

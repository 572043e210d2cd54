// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/selections/revision"
)

// definingGroups are the ends of the API groups of what catalogs have, what instances are, and what applies them.
var definingGroups = []string{
	"kubermatic.k8c.io", "cozystack.io", "operators.coreos.com", "olm.operatorframework.io", "infra.contrib.fluxcd.io",
	"helm.toolkit.fluxcd.io", "kustomize.toolkit.fluxcd.io", "source.toolkit.fluxcd.io", "catalog.winnow.dev",
}

// deletedContainers returns a sentence for each object that leaves, or that another Kustomization applies, if its deletion
// deletes a selection, its consumers or its applications.
func (c *comparison) deletedContainers(p pair, consumers []revision.Consumer) (unknown []string) {
	if p.from == nil || !c.head.Has(p.any().Cluster) {
		return nil // Flux deletes nothing without the directory
	}
	for _, k := range c.base.Containers {
		left := k
		left.Cluster = p.any().Cluster
		if k.Cluster == p.from.Cluster && !slices.Contains(c.head.Containers, left) && holds(k, p, consumers) {
			unknown = append(unknown, fmt.Sprintf("%s %s is not applied any more by %s, which may delete it, and all that is in it", k.Kind, k.Name, k.Appliers))
		}
	}
	return unknown
}

// holds reports whether the deletion of a container deletes a selection, its consumers or its applications.
func holds(k revision.Container, p pair, consumers []revision.Consumer) bool {
	if k.Kind != "Namespace" {
		return slices.ContainsFunc(definingGroups, func(end string) bool { return strings.HasSuffix(k.Name, "."+end) })
	}
	of := func(consumer revision.Consumer) bool { return strings.HasPrefix(consumer.Name, k.Name+"/") }
	return (p.to != nil || p.from.HasPruned()) && (k.Name == p.from.Namespace || slices.ContainsFunc(consumers, of))
}

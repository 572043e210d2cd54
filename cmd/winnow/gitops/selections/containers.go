// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/documents"
)

// definingGroups are the ends of the API groups of what catalogs have, what instances are, and what applies them.
var definingGroups = []string{
	"kubermatic.k8c.io", "cozystack.io", "operators.coreos.com", "olm.operatorframework.io", "infra.contrib.fluxcd.io",
	"helm.toolkit.fluxcd.io", "kustomize.toolkit.fluxcd.io", "source.toolkit.fluxcd.io", "catalog.winnow.dev",
}

// deletedContainersOf returns the sentences of deletedContainers for a selection and its consumers.
func (c *comparison) deletedContainersOf(p pair, consumers []documents.Consumer) []string {
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

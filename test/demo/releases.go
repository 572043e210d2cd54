// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/stack"
)

// Labels that helm-controller sets on what it installs: the HelmRelease.
const (
	releaseNameLabel      = "helm.toolkit.fluxcd.io/name"
	releaseNamespaceLabel = "helm.toolkit.fluxcd.io/namespace"
)

// chartLabel has the name and the version of the chart, which the charts of the example set.
const chartLabel = "helm.sh/chart"

// listInstances prints the instances in the artifact, with what the cluster has of each.
func (d *demo) listInstances(ctx context.Context, cs *v1alpha1.CatalogSelection) error {
	table := tabwriter.NewWriter(d.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "    INSTANCE\tVERSION\tINSTALLED CHART\tCONFIGMAPS")
	for _, in := range cs.Status.Instances {
		installed, err := d.installed(ctx, in.Name)
		if err != nil {
			return err
		}
		var charts, namespaces []string
		for _, object := range installed {
			charts = append(charts, withoutDigest(object.Labels[chartLabel]))
			namespaces = append(namespaces, object.Namespace)
		}
		fmt.Fprintf(table, "    %s\t%s\t%s\t%d in %s\n", in.Name, in.Version, different(charts), len(installed), different(namespaces))
	}
	return table.Flush()
}

// different returns the different texts of a list, sorted.
func different(texts []string) string {
	return strings.Join(slices.Compact(slices.Sorted(slices.Values(texts))), ", ")
}

var buildOfDigest = regexp.MustCompile(`[_+][0-9a-f]{12}$`)

// withoutDigest returns the label of a chart without the digest that helm-controller appends to its version.
func withoutDigest(chart string) string { return buildOfDigest.ReplaceAllString(chart, "") }

// installed returns the ConfigMaps of the release of an instance, by name.
func (d *demo) installed(ctx context.Context, instance string) ([]corev1.ConfigMap, error) {
	list := &corev1.ConfigMapList{}
	err := d.Client().List(ctx, list, client.MatchingLabels{releaseNameLabel: instance, releaseNamespaceLabel: stack.FluxNamespace})
	return list.Items, err
}

// awaitUninstalled waits until nothing of the release of an instance is left.
func (d *demo) awaitUninstalled(ctx context.Context, instance string) error {
	return wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		left, err := d.installed(ctx, instance)
		return err == nil && len(left) == 0, err
	})
}

var (
	defaultVersion = regexp.MustCompile(`(?m)^  defaultVersion: .*$`)
	// lastVersion is the last entry of spec.versions, and ownVersions its version and that of its chart.
	lastVersion = regexp.MustCompile(`    - version: [^\n]*\n(?:      [^\n]*\n)*$`)
	ownVersions = regexp.MustCompile(`(?m)((?:^    - version|chartVersion): ).*$`)
)

// withVersion returns a definition with one more version, which is the default.
func withVersion(definition, version string) string {
	entry := ownVersions.ReplaceAllString(lastVersion.FindString(definition), "${1}"+version)
	return defaultVersion.ReplaceAllString(definition, "  defaultVersion: "+version) + entry
}

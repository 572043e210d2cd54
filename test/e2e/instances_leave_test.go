// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// failToUpgrade publishes versions that cannot be installed. One instance is atomic without retries, so that its upgrade is
// rolled back after the first attempt; the upgrade of the other one is tried again for ever.
func failToUpgrade(t *testing.T) {
	i := newInstalling(t, "fragile")
	apps := func(versions ...string) []packaged {
		return []packaged{{name: "atomic", versions: versions}, {name: "endless", versions: versions}}
	}
	for _, name := range []string{"atomic", "endless"} {
		pushChart(t, "fragile-charts", chartFiles(name, "1.0.0", ""))
		pushChart(t, "fragile-charts", append(chartFiles(name, "1.1.0", ""), "templates/broken.yaml", brokenTemplate))
		pushChart(t, "fragile-charts", chartFiles(name, "1.1.1", ""))
	}
	i.offer("v1", apps("1.0.0")...)
	i.offer("v1.1", apps("1.0.0", "1.1.0")...)
	i.offer("v1.2", apps("1.0.0", "1.1.0", "1.1.1")...)
	i.create(i.repository())
	for name, deploy := range map[string]string{"atomic": ", timeout: 30s, deploy: {atomic: true, retries: 0}", "endless": ""} {
		i.commit([]string{
			i.selecting(name, "definitions: Omit", "instances: {"+name+": {version: ^1"+deploy+"}}"),
			i.applying(name, name, "wait: true", "timeout: 30s"), // the least that kustomize-controller waits
		})
	}
	results := i.as("atomic").awaitInstalled(map[string]string{"atomic": "1.0.0"})
	i.as("endless").awaitInstalled(map[string]string{"endless": "1.0.0"})

	i.follow("v1.1")
	i.awaitRelease("atomic", "Stalled", "True RetriesExceeded")
	i.awaitRelease("atomic", "Remediated", "True RollbackSucceeded")
	i.of("atomic").awaitAppliedCondition("False ApplyFailed", "HelmRelease/fragile/atomic status: 'Failed'")
	now := i.result(t.Context(), results["atomic"])
	if now.Data["version"] != "1.0.0" || now.UID != results["atomic"].UID {
		t.Errorf("after the rollback, installed is %s: %+v", now.Data["version"], now.ObjectMeta)
	}
	i.of("endless").awaitAppliedCondition("False ApplyFailed", "HelmRelease/fragile/endless status: 'InProgress'")

	i.follow("v1.2")
	i.as("atomic").awaitInstalled(map[string]string{"atomic": "1.1.1"})
	i.as("endless").awaitInstalled(map[string]string{"endless": "1.1.1"})
}

// removeInstances removes an instance from three selections. Its release is uninstalled where the selection's
// deletionPolicy is Delete, and the Kustomization prunes.
func removeInstances(t *testing.T) {
	i := newInstalling(t, "removal")
	pushChart(t, "removal-charts", chartFiles("tool", "1.0.0", ""))
	i.offer("v1", packaged{name: "tool", versions: []string{"1.0.0"}, fields: "  defaultVersion: 1.0.0\n"})
	i.create(i.repository())
	rows := []struct {
		name, policy, prune string
		stays               bool
	}{
		{"orphaned", v1alpha1.DeletionPolicyOrphan, "true", true},
		{"ignored", v1alpha1.DeletionPolicyDelete, "false", true},
		{"removed", v1alpha1.DeletionPolicyDelete, "true", false},
	}
	selecting := func(name, policy, instances string) string {
		manifest := i.selecting(name, "definitions: Omit", "instances: "+instances)
		return strings.Replace(manifest, "deletionPolicy: Delete", "deletionPolicy: "+policy, 1)
	}
	for _, row := range rows {
		kustomization := strings.Replace(i.applying(row.name, row.name), "prune: true", "prune: "+row.prune, 1)
		both := fmt.Sprintf("{%s-a: {application: tool}, %[1]s-b: {application: tool}}", row.name)
		i.commit([]string{selecting(row.name, row.policy, both), kustomization})
	}
	for _, row := range rows {
		a, b := row.name+"-a", row.name+"-b"
		both := map[string]string{a: "1.0.0", b: "1.0.0"}
		result := i.as(row.name).awaitInstalled(both)[b]
		release, err := i.releaseOf(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		i.commit([]string{selecting(row.name, row.policy, "{"+a+": {application: tool}}\n  "+naming("Instance/"+b))})
		i.as(row.name).awaitInstalled(map[string]string{a: "1.0.0"})
		if !row.stays {
			i.awaitGone(t.Context(), release)
			i.awaitGone(t.Context(), result)
			continue
		}
		// The release stays, also when the instance comes back.
		for range 2 {
			if now := i.result(t.Context(), result); now.UID != result.UID {
				t.Errorf("what %s has installed was deleted", row.name)
			}
			if now, err := i.releaseOf(t.Context(), b); err != nil || now.GetUID() != release.GetUID() {
				t.Errorf("the HelmRelease of %s: %v", row.name, err)
			}
			i.commit([]string{selecting(row.name, row.policy, "{"+a+": {application: tool}, "+b+": {application: tool}}")})
			i.as(row.name).awaitInstalled(both)
		}
	}
}

// shareInstances has two selections in one namespace. Their charts are in one Helm repository, and they install into a
// Namespace of another Kustomization. Neither changes for the first selection when the second one is deleted.
func shareInstances(t *testing.T) {
	i := newInstalling(t, "sharing")
	url := serveChart(t, "manual", "1.0.0")
	i.offer("v1", packaged{name: "manual", versions: []string{"1.0.0"}, fields: "  defaultVersion: 1.0.0\n", url: url})
	i.create(i.repository())
	i.plain("infra", map[string]string{"namespace.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: manual, labels: {team: infra}}\n"})
	i.commit([]string{i.applying("infra", "OCIRepository/infra")})
	live := &corev1.Namespace{}
	i.await("the namespace", func(ctx context.Context) error {
		return system.Client().Get(ctx, client.ObjectKey{Name: "manual"}, live)
	})
	var results map[string]*corev1.ConfigMap
	for _, name := range []string{"first", "second"} {
		instances := "instances: {" + name + ": {application: manual}}"
		i.commit([]string{i.selecting(name, "definitions: Omit", instances), i.applying(name, name)})
		results = i.as(name).awaitInstalled(map[string]string{name: "1.0.0"})
	}
	i.remove(i.kustomizationOf("second"), i.selectionOf("second"))
	i.awaitGone(t.Context(), results["second"])

	labels := live.Labels
	if err := system.Client().Get(t.Context(), keyOf(live), live); err != nil || !maps.Equal(live.Labels, labels) {
		t.Errorf("the namespace has the labels %v, before %v: %v", live.Labels, labels, err)
	}
	release, err := i.releaseOf(t.Context(), "first")
	if err != nil {
		t.Fatal(err)
	}
	name, _, _ := unstructured.NestedString(release.Object, "spec", "chart", "spec", "sourceRef", "name")
	repository := &sourcev1.HelmRepository{}
	if err := system.Client().Get(t.Context(), client.ObjectKey{Namespace: i.name, Name: name}, repository); err != nil || !repository.DeletionTimestamp.IsZero() {
		t.Errorf("the repository of the first selection is deleted: %v", err)
	}
}

// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"testing"

	"github.com/fluxcd/pkg/runtime/conditions"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// handMade is a HelmRelease of an admin. helm-controller calls its release as its target namespace and itself.
const handMade = `---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: tool, namespace: adoption}
spec:
  interval: 1h
  chartRef: {kind: OCIRepository, name: by-hand}
  targetNamespace: tools
  install: {createNamespace: true}
  values: {made: by hand}
`

// adoptInstances has an instance of a release that runs already. The selection waits while it would be uninstalled, and
// takes it over in place once the instance has its name.
func adoptInstances(t *testing.T) {
	i := newInstalling(t, "adoption")
	pushChart(t, "adoption-charts", chartFiles("tool", "1.0.0", ""))
	i.commit([]string{chartRepository("adoption", "by-hand", "adoption-charts/tool", "1.0.0"), handMade})
	i.awaitRelease("tool", "Ready", "True")
	live, err := i.releaseOf(t.Context(), "tool")
	if err != nil {
		t.Fatal(err)
	}
	before := i.result(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "tools", Name: "tools-tool"}})

	i.offer("v1", packaged{name: "tool", versions: []string{"1.0.0"}, fields: "  defaultVersion: 1.0.0\n"})
	i.create(i.repository())
	selecting := func(more string) string {
		return i.selecting("adoption", "definitions: Omit", "instances: {tool: {namespace: tools"+more+"}}")
	}
	i.commit([]string{selecting(""), i.applying("adoption", "adoption")})
	cs := i.awaitSelection("held", func(cs *v1alpha1.CatalogSelection) error {
		if conditions.GetReason(cs, v1alpha1.HeldCondition) != v1alpha1.IdentityChangeReason {
			return fmt.Errorf("held is %+v", cs.Status.Held)
		}
		return nil
	})
	const message = `instance tool: releaseName would change from "tools-tool" to "tool": what runs would be uninstalled, and installed anew`
	if got := cs.Status.Held.Reasons; cs.Status.Artifact != nil || len(got) != 1 || got[0].Message != message {
		t.Errorf("held for %+v", got)
	}
	i.commit([]string{selecting(", releaseName: tools-tool, values: {made: by Winnow}")})
	after := i.awaitInstalled(map[string]string{"tool": "1.0.0"})["tool"]
	now, err := i.releaseOf(t.Context(), "tool")
	if err != nil || now.GetUID() != live.GetUID() || after.UID != before.UID || valuesOf(t, after)["made"] != "by Winnow" {
		t.Errorf("not taken over in place: %v %+v", err, after)
	}
}

// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import "testing"

// limitBackends has an instance of a backend that the cluster does not serve: it is left out where the platform has no
// such backend, and holds what is next where nothing says so. A backend that goes would remove what runs.
func limitBackends(t *testing.T) {
	i := newInstalling(t, "platform")
	pushChart(t, "platform-charts", chartFiles("fabric", "1.0.0", "mode: chart\n"))
	i.offer("v1", packaged{name: "fabric", versions: []string{"1.0.0"}, fields: "  defaultVersion: 1.0.0\n"})
	i.create(i.repository())
	deploy := func(mode, platform string) {
		i.commit([]string{i.selecting("platform", platform,
			"instances: {fabric: {values: {mode: "+mode+"}}, guest: {application: fabric, backend: ApplicationInstallation, namespace: guest}}")})
	}
	deploy("a", "platform: {backends: [Helm]}")
	i.commit([]string{i.applying("platform", "platform")})
	release := i.awaitInstalled(map[string]string{"fabric": "1.0.0"})["fabric"]

	deploy("b", "")
	i.awaitHolding("BackendNotAvailable : the cluster does not serve apps.kubermatic.k8c.io/v1, Kind=ApplicationInstallation")
	deploy("c", "platform: {backends: [Terraform]}")
	i.awaitHolding("Removal fabric: instance fabric would be removed, because its backend Helm is not in spec.platform.backends")
	if got := valuesOf(t, i.result(t.Context(), release))["mode"]; got != "a" {
		t.Errorf("what is held has changed the value to %v", got)
	}
}

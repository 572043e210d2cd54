// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// reportInstances installs three instances, of which the API server refuses one, by a Kustomization that waits for none.
func reportInstances(t *testing.T) {
	i := newInstalling(t, "states")
	var apps, mended []packaged
	for _, name := range []string{"broken", "solid", "sound"} {
		files := chartFiles(name, "1.0.0", "")
		if name == "broken" {
			pushChart(t, "states-charts", append(files, "templates/broken.yaml", brokenTemplate))
			files = chartFiles(name, "1.0.1", "")
			mended = append(mended, packaged{name: name, versions: []string{"1.0.0", "1.0.1"}})
		} else {
			mended = append(mended, packaged{name: name, versions: []string{"1.0.0"}})
		}
		pushChart(t, "states-charts", files)
		apps = append(apps, packaged{name: name, versions: []string{"1.0.0"}})
	}
	i.offer("v1", apps...)
	i.offer("v2", mended...)
	i.create(i.repository())
	i.commit([]string{
		i.selecting("states", "definitions: Omit", "instances: {broken: {version: ^1}, solid: {version: ^1}, sound: {version: ^1}}"),
		i.applying("states", "states"),
	})
	cs := i.awaitStates("broken=False@ solid=True@1.0.0 sound=True@1.0.0")
	release, err := i.releaseOf(t.Context(), "broken")
	if err != nil {
		t.Fatal(err)
	}
	message := cs.Status.Instances[0].Message
	if !strings.Contains(message, "Helm install failed") || !strings.HasSuffix(conditionOf(release, meta.ReadyCondition), message) {
		t.Errorf("the message is %q, helm-controller reports %q", message, conditionOf(release, meta.ReadyCondition))
	}
	ready := conditions.Get(cs, v1alpha1.InstancesReadyCondition)
	if ready.Reason != v1alpha1.InstanceNotReadyReason || !strings.Contains(ready.Message, "1 of 3 not ready") || !strings.Contains(ready.Message, "broken: "+message) {
		t.Errorf("the condition is %+v", ready)
	}
	if !conditions.IsReady(cs) || !conditions.IsTrue(cs, v1alpha1.AppliedCondition) {
		t.Errorf("the conditions are %+v", cs.Status.Conditions)
	}
	out, err := exec.CommandContext(t.Context(), system.winnow, "get", "instances", "-n", i.name, "--kubeconfig", system.Kubeconfig()).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "states     broken    broken       1.0.0    False  Helm install failed") {
		t.Errorf("winnow get instances: %v\n%s", err, out)
	}

	i.follow("v2")
	cs = i.awaitStates("broken=True@1.0.1 solid=True@1.0.0 sound=True@1.0.0")
	if !conditions.IsTrue(cs, v1alpha1.InstancesReadyCondition) {
		t.Errorf("the conditions are %+v", cs.Status.Conditions)
	}
}

// awaitStates waits for the instances, as "<name>=<ready>@<last applied revision>", and for a condition of them.
func (i *installing) awaitStates(want string) *v1alpha1.CatalogSelection {
	i.t.Helper()
	return i.of(i.name).awaitSelection("the states "+want, func(cs *v1alpha1.CatalogSelection) error {
		var states []string
		for _, in := range cs.Status.Instances {
			version, _, _ := strings.Cut(in.LastAppliedRevision, "+")
			states = append(states, fmt.Sprintf("%s=%s@%s", in.Name, in.Ready, version))
		}
		status := conditions.IsTrue(cs, v1alpha1.InstancesReadyCondition)
		if got := strings.Join(states, " "); got != want || status == strings.Contains(want, "False") {
			return fmt.Errorf("they are %s", got)
		}
		return nil
	})
}

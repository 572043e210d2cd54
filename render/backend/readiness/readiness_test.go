// SPDX-License-Identifier: Apache-2.0

package readiness_test

import (
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/backend/readiness"
)

// The objects have what their controllers write.
func TestTheConditionOfEachKind(t *testing.T) {
	for _, test := range []struct {
		name, object string
		want         v1alpha1.InstanceState
	}{
		{
			"a HelmRelease that is installed", `
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: apps, generation: 2}
status:
  observedGeneration: 2
  conditions:
  - {type: Released, status: "True", reason: UpgradeSucceeded, message: x, observedGeneration: 2}
  - {type: Ready, status: "True", reason: UpgradeSucceeded, message: Helm upgrade succeeded for release apps/web.v2 with chart web@1.1.0, observedGeneration: 2}
  history:
  - {chartName: web, chartVersion: 1.1.0, name: web, status: deployed, version: 2}
  - {chartName: web, chartVersion: 1.0.0, name: web, status: superseded, version: 1}`,
			v1alpha1.InstanceState{Ready: "True", Message: "Helm upgrade succeeded for release apps/web.v2 with chart web@1.1.0", LastAppliedRevision: "1.1.0"},
		},
		{
			"a HelmRelease whose upgrade failed has what was installed before", `
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: apps, generation: 3}
status:
  observedGeneration: 2
  conditions:
  - {type: Ready, status: "False", reason: UpgradeFailed, message: 'Helm upgrade failed: no', observedGeneration: 3}
  history:
  - {chartVersion: 1.2.0, status: failed, version: 3}
  - {chartVersion: 1.1.0, status: deployed, version: 2}`,
			v1alpha1.InstanceState{Ready: "False", Message: "Helm upgrade failed: no", LastAppliedRevision: "1.1.0"},
		},
		{
			"a HelmRelease that has not observed its last edit", `
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, generation: 4}
status:
  conditions: [{type: Ready, status: "True", reason: UpgradeSucceeded, message: done, observedGeneration: 3}]`,
			v1alpha1.InstanceState{Ready: "Unknown", Message: "generation 4 is not yet observed"},
		},
		{
			"a HelmRelease that is in work", `
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, generation: 1}
status:
  observedGeneration: -1
  conditions: [{type: Ready, status: Unknown, reason: Progressing, message: Running 'install' action with timeout of 5m0s, observedGeneration: 1}]`,
			v1alpha1.InstanceState{Ready: "Unknown", Message: "Running 'install' action with timeout of 5m0s"},
		},
		{
			"a HelmRelease that no controller has seen", `
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, generation: 1}`,
			v1alpha1.InstanceState{Ready: "Unknown", Message: "not yet observed"},
		},
		{
			"a HelmRelease that is being deleted", `
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, generation: 1, deletionTimestamp: "2026-01-02T03:04:05Z"}
status:
  conditions: [{type: Ready, status: "True", message: done, observedGeneration: 1}]`,
			v1alpha1.InstanceState{Ready: "Unknown", Message: "is being deleted"},
		},
		{
			"a Terraform object with outputs", `
apiVersion: infra.contrib.fluxcd.io/v1alpha2
kind: Terraform
metadata: {name: network, generation: 1}
spec:
  writeOutputsToSecret: {name: network-outputs}
status:
  observedGeneration: 1
  availableOutputs: [vpc, subnets]
  lastAppliedRevision: main@sha1:0123
  lastPlannedRevision: main@sha1:4567
  plan: {lastApplied: plan-main-0123}
  conditions:
  - {type: Plan, status: "True", reason: TerraformPlannedWithChanges, message: Plan generated}
  - {type: Ready, status: "True", reason: TerraformOutputsWritten, message: 'Outputs written: main@sha1:0123'}`,
			v1alpha1.InstanceState{
				Ready: "True", Message: "Outputs written: main@sha1:0123", LastAppliedRevision: "main@sha1:0123",
				Outputs: &v1alpha1.InstanceOutputs{SecretName: "network-outputs", Available: []string{"vpc", "subnets"}},
			},
		},
		{
			"a Terraform object whose plan waits", `
apiVersion: infra.contrib.fluxcd.io/v1alpha2
kind: Terraform
metadata: {name: network, generation: 1}
status:
  observedGeneration: 1
  plan: {pending: plan-main-4567}
  conditions: [{type: Ready, status: Unknown, reason: TerraformPlannedWithChanges, message: 'Plan generated: set approvePlan: "plan-main-4567" to approve this plan.'}]`,
			v1alpha1.InstanceState{Ready: "Unknown", Message: `Plan generated: set approvePlan: "plan-main-4567" to approve this plan.`, PendingPlan: "plan-main-4567"},
		},
		{
			"a Terraform object that has observed less by its status", `
apiVersion: infra.contrib.fluxcd.io/v1alpha2
kind: Terraform
metadata: {name: network, generation: 2}
status:
  observedGeneration: 1
  conditions: [{type: Ready, status: "True", message: done}]`,
			v1alpha1.InstanceState{Ready: "Unknown", Message: "generation 2 is not yet observed"},
		},
		{
			"the conditions of an ApplicationInstallation are a map", `
apiVersion: apps.kubermatic.k8c.io/v1
kind: ApplicationInstallation
metadata: {name: web, generation: 1}
status:
  applicationVersion: {version: 1.2.0}
  conditions:
    ManifestsRetrieved: {status: "True", reason: DownloadSourceSuccessful, message: application's source successfully downloaded, observedGeneration: 1}
    Ready: {status: "False", reason: InstallationFailed, message: 'timed out waiting for the condition', observedGeneration: 1}`,
			v1alpha1.InstanceState{Ready: "False", Message: "timed out waiting for the condition", LastAppliedRevision: "1.2.0"},
		},
		{
			"an ApplicationInstallation without a message", `
apiVersion: apps.kubermatic.k8c.io/v1
kind: ApplicationInstallation
metadata: {name: web, generation: 1}
status:
  conditions:
    Ready: {status: "True", reason: InstallationSuccessful}`,
			v1alpha1.InstanceState{Ready: "True", Message: "InstallationSuccessful"},
		},
		{
			"an object of Cozystack", `
apiVersion: apps.cozystack.io/v1alpha1
kind: Postgres
metadata: {name: db}
status:
  version: 0.10.0
  conditions: [{type: Ready, status: "True", reason: InstallSucceeded, message: Helm install succeeded}]`,
			v1alpha1.InstanceState{Ready: "True", Message: "Helm install succeeded", LastAppliedRevision: "0.10.0"},
		},
		{
			"a ClusterExtension is installed, and not ready, whatever else it reports", `
apiVersion: olm.operatorframework.io/v1
kind: ClusterExtension
metadata: {name: argocd, generation: 1}
status:
  install: {bundle: {name: argocd-operator.v0.6.0, version: 0.6.0}}
  conditions:
  - {type: Serving, status: "False", reason: Unavailable, message: x, observedGeneration: 1}
  - {type: Progressing, status: "True", reason: Succeeded, message: desired state reached, observedGeneration: 1}
  - {type: Installed, status: "True", reason: Succeeded, message: Installed bundle quay.io/argocd successfully, observedGeneration: 1}`,
			v1alpha1.InstanceState{Ready: "Unknown", Message: "installed: Installed bundle quay.io/argocd successfully", LastAppliedRevision: "0.6.0"},
		},
		{
			"a ClusterExtension that is not installed", `
apiVersion: olm.operatorframework.io/v1
kind: ClusterExtension
metadata: {name: argocd, generation: 1}
status:
  conditions: [{type: Installed, status: "False", reason: Failed, message: No bundle installed, observedGeneration: 1}]`,
			v1alpha1.InstanceState{Ready: "False", Message: "No bundle installed"},
		},
		{
			"a Subscription is installed, and not ready", `
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: argocd, namespace: operators, generation: 1}
status:
  state: AtLatestKnown
  installedCSV: argocd-operator.v0.6.0
  conditions: [{type: CatalogSourcesUnhealthy, status: "False", reason: AllCatalogSourcesHealthy, message: all available catalogsources are healthy}]`,
			v1alpha1.InstanceState{Ready: "Unknown", Message: "installed: argocd-operator.v0.6.0", LastAppliedRevision: "argocd-operator.v0.6.0"},
		},
		{
			"a Subscription that cannot be resolved", `
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: argocd, namespace: operators, generation: 1}
status:
  installedCSV: argocd-operator.v0.5.0
  conditions: [{type: ResolutionFailed, status: "True", reason: ConstraintsNotSatisfiable, message: no operators found}]`,
			v1alpha1.InstanceState{Ready: "False", Message: "no operators found", LastAppliedRevision: "argocd-operator.v0.5.0"},
		},
		{
			"a Subscription that waits", `
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: argocd, namespace: operators, generation: 1}
status: {state: UpgradePending, currentCSV: argocd-operator.v0.6.0}`,
			v1alpha1.InstanceState{Ready: "Unknown", Message: "not yet observed"},
		},
		{
			"a status of other types", `
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, generation: 1}
status: {observedGeneration: x, history: [1, {status: deployed, chartVersion: 2}], conditions: [3, {type: 4}, {type: Ready, status: Perhaps}]}`,
			v1alpha1.InstanceState{Ready: "Unknown", Message: "without a message"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			object := &unstructured.Unstructured{}
			content, err := yaml.YAMLToJSON([]byte(test.object))
			if err != nil {
				t.Fatal(err)
			}
			if err := object.UnmarshalJSON(content); err != nil {
				t.Fatal(err)
			}
			if got := readiness.Of(object); !reflect.DeepEqual(got, test.want) {
				t.Errorf("got\n%+v, want\n%+v", got, test.want)
			}
		})
	}
}

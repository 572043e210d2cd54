// SPDX-License-Identifier: Apache-2.0

package consumers

import (
	"testing"

	"github.com/fluxcd/pkg/apis/kustomize"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Messages of kustomize-controller 1.9.3; test/e2e provokes the same ones.
const (
	undeclared = "ApplicationDefinition/argocd dry-run failed: failed to create typed patch object (/argocd; " +
		"apps.kubermatic.k8c.io/v1, Kind=ApplicationDefinition): .spec.displayNaem: field not declared in schema\n"
	invalid = "ApplicationDefinition/nginx dry-run failed (Invalid): ApplicationDefinition.apps.kubermatic.k8c.io \"nginx\" is invalid: " +
		"spec.method: Unsupported value: \"hlem\": supported values: \"helm\"\n"
)

func TestTheRefusedApplicationOfAMessage(t *testing.T) {
	for _, test := range []struct {
		name, message, prefix, suffix, want string
	}{
		{name: "a field that is not declared", message: undeclared, want: "argocd"},
		{name: "a value that is invalid", message: invalid, want: "nginx"},
		{name: "several", message: undeclared + invalid, want: "argocd"},
		{name: "an unknown kind", message: `ApplicationDefinition/a.b dry-run failed: no matches for kind "X" in version "y/v2"`, want: "a.b"},
		{name: "an object that names a namespace", message: "ApplicationDefinition/kubermatic/argocd dry-run failed: no", want: "argocd"},
		{name: "a name with the prefix and suffix of the Kustomization", message: "ApplicationDefinition/team-argocd-x dry-run failed: no",
			prefix: "team-", suffix: "-x", want: "argocd"},
		{name: "a denial by a policy", message: "ApplicationDefinition/argocd dry-run failed (Forbidden): applicationdefinitions.apps.kubermatic.k8c.io " +
			"\"argocd\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p' denied request: no", want: "argocd"},
		{name: "a right that the account lacks", message: "ApplicationDefinition/argocd dry-run failed (Forbidden): applicationdefinitions." +
			"apps.kubermatic.k8c.io \"argocd\" is forbidden: User \"system:serviceaccount:flux-system:nobody\" cannot patch resource"},
		{name: "a webhook that does not answer", message: "ApplicationDefinition/argocd dry-run failed (InternalError): Internal error occurred: " +
			"failed calling webhook \"applicationdefinitions\": connection refused"},
		{name: "another failure", message: "health check failed after 30s: timeout waiting for: [ApplicationDefinition/argocd status: 'InProgress']"},
		{name: "an object somewhere in the text", message: "because ApplicationDefinition/argocd dry-run failed"},
		{name: "nothing", message: ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			ks := kustomized(older1, published2, metav1.ConditionFalse, "ReconciliationFailed", test.message)
			ks.Spec.NamePrefix, ks.Spec.NameSuffix = test.prefix, test.suffix
			if got := consumerOf(ks, published2).refused.name; got != test.want {
				t.Errorf("refused %q, want %q", got, test.want)
			}
		})
	}
}

func TestAppliedNamesTheRefusedApplication(t *testing.T) {
	failed := func(message string) Consumers {
		ks := kustomized(older1, published2, metav1.ConditionFalse, "ReconciliationFailed", message)
		return Consumers{Known: true, Items: []Consumer{consumerOf(ks, published2)}}
	}
	const begin = "False ApplyFailed: Kustomization flux-system/apps: "
	const refuses = begin + "no application is applied, because the API server refuses "
	files := Files{"argocd": {Path: "applications/argo-cd/application.yaml", Source: "kkp"}}
	for _, test := range []struct {
		name, message string
		files         Files
		patches       []kustomize.Patch
		want          string
	}{
		{"its file in the catalog is known", undeclared, files, nil, refuses + "argocd (applications/argo-cd/application.yaml of source kkp): " +
			undeclared[:len(undeclared)-1]},
		{"its file in the catalog is not known", undeclared, nil, nil, refuses + "argocd (applicationdefinitions/argocd.yaml of the artifact): " +
			undeclared[:len(undeclared)-1]},
		{"an object of an instance", "HelmRelease/flux-system/argocd dry-run failed (Invalid): no", files, nil,
			begin + "nothing is applied, because the API server refuses the HelmRelease flux-system/argocd of an instance: HelmRelease/flux-system/argocd dry-run failed (Invalid): no"},
		{"patches may have changed it", undeclared, files, []kustomize.Patch{
			{Patch: "{apiVersion: apps.kubermatic.k8c.io/v1, kind: ApplicationDefinition, metadata: {name: argocd}, spec: {versions: []}}"},
			{Patch: "[]", Target: &kustomize.Selector{Kind: "ApplicationDefinition", Name: "nginx"}},
			{Patch: "[]", Target: &kustomize.Selector{Name: "argo.*"}},
		}, refuses + "argocd (applications/argo-cd/application.yaml of source kkp), which spec.patches[0], spec.patches[2] may change: " + undeclared[:len(undeclared)-1]},
		{"a patch has the refused field", invalid, Files{"nginx": {Path: "applications/nginx/application.yaml", Source: "kkp"}}, []kustomize.Patch{
			{Patch: "[{op: add, path: /spec/x, value: 1}]", Target: &kustomize.Selector{Kind: "ApplicationDefinition"}},
			{Patch: "[{op: replace, path: /spec/method, value: hlem}]", Target: &kustomize.Selector{Kind: "ApplicationDefinition"}},
			{Patch: "[{op: replace, path: /spec/method, value: hlem}]", Target: &kustomize.Selector{Kind: "Other"}},
		}, refuses + "nginx as changed by spec.patches[1]: " + invalid[:len(invalid)-1]},
		{"a patch of an instance has it", "HelmRelease/flux-system/argocd dry-run failed (Invalid): spec.interval: Invalid value", files, []kustomize.Patch{
			{Patch: "[{op: replace, path: /spec/interval, value: x}]", Target: &kustomize.Selector{Kind: "HelmRelease"}},
		}, begin + "nothing is applied, because the API server refuses the HelmRelease flux-system/argocd of an instance as changed by spec.patches[0]: HelmRelease/flux-system/argocd dry-run failed (Invalid): spec.interval: Invalid value"},
		{"nobody is", "404", files, nil, begin + "404"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := appliedCondition(failed(test.message).Applied(published2, test.files, test.patches)); got != test.want {
				t.Errorf("Applied() = %q\nwant %q", got, test.want)
			}
		})
	}
}

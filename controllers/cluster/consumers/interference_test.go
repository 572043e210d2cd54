// SPDX-License-Identifier: Apache-2.0

package consumers

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/kustomize"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func patched(patches ...string) kustomizev1.KustomizationSpec {
	var spec kustomizev1.KustomizationSpec
	for _, patch := range patches {
		spec.Patches = append(spec.Patches, kustomize.Patch{Patch: patch, Target: &kustomize.Selector{Kind: "ApplicationDefinition"}})
	}
	return spec
}

func TestWhatAConsumerChangesIsNamedInApplied(t *testing.T) {
	const object = "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata:\n  name: argocd\n"
	common := func(annotations, labels map[string]string) kustomizev1.KustomizationSpec {
		return kustomizev1.KustomizationSpec{CommonMetadata: &kustomizev1.CommonMetadata{Annotations: annotations, Labels: labels}}
	}
	for _, test := range []struct {
		name string
		spec kustomizev1.KustomizationSpec
		want []string
	}{
		{"nothing", kustomizev1.KustomizationSpec{}, nil},
		{"the root, however it is written", kustomizev1.KustomizationSpec{Path: ".//"}, nil},
		{"components", kustomizev1.KustomizationSpec{Path: "./", Components: []string{"../labels"}}, nil},
		{"another path", kustomizev1.KustomizationSpec{Path: "./applicationdefinitions"}, []string{`spec.path is "./applicationdefinitions" and must be ./`}},
		{"a patch of values", patched(object + "spec: {description: a}\n"), nil},
		{"a patch that cannot be read", patched("a: [", "&a [*a]", ""), nil},
		{"a patch that drops", patched("spec: {}", object+"$patch: delete\n"), []string{"spec.patches[1] drops objects"}},
		{"the second document drops", patched(object + "---\n" + object + "$patch: delete\n"), []string{"spec.patches[0] drops objects"}},
		{"a patch that drops a version", patched(object + "spec: {versions: [{version: 1.0.0, $patch: delete}]}\n"), nil},
		{"an operation that removes the object", patched(`[{"op": "remove", "path": ""}]`), []string{"spec.patches[0] drops objects"}},
		{"an operation with a key twice, of which kustomize takes the last", patched("- {op: test, op: remove, path: ''}\n"), []string{"spec.patches[0] drops objects"}},
		{"an operation that removes a field", patched("- {op: remove, path: /spec/description}\n"), nil},
		{"an operation that tests", patched("- {op: test, path: /metadata/annotations/kustomize.toolkit.fluxcd.io~1prune, value: disabled}\n"), nil},
		{
			"patches that set what kustomize and Flux act on",
			patched(object+"  annotations: {KUSTOMIZE.toolkit.fluxcd.io/Prune: enabled, a: b}\n  labels: {kustomize.toolkit.fluxcd.io/reconcile: disabled}\n",
				"- {op: replace, path: /metadata/annotations/kustomize.toolkit.fluxcd.io~1prune, value: enabled}\n"+
					"- {op: remove, path: /metadata/annotations/config.kubernetes.io~1local-config}\n"),
			[]string{
				"spec.patches[0] changes KUSTOMIZE.toolkit.fluxcd.io/Prune", "spec.patches[0] changes kustomize.toolkit.fluxcd.io/reconcile",
				"spec.patches[1] changes kustomize.toolkit.fluxcd.io/prune", "spec.patches[1] changes config.kubernetes.io/local-config",
			},
		},
		{
			"a patch that replaces all annotations", patched("- {op: add, path: /metadata/annotations, value: {config.kubernetes.io/local-config: 'true'}}\n"),
			[]string{"spec.patches[0] replaces metadata.annotations", "spec.patches[0] changes config.kubernetes.io/local-config"},
		},
		{"operations that remove the metadata by which Flux keeps objects", patched(
			"- {op: remove, path: /metadata/annotations}\n", "metadata: {labels: null}", "- {op: move, from: /metadata/annotations, path: /spec/a}\n",
		), []string{"spec.patches[0] replaces metadata.annotations", "spec.patches[1] replaces metadata.labels", "spec.patches[2] replaces metadata.annotations"}},
		{"patches that replace", patched(
			"{$patch: replace, spec: {}}", "metadata: {$patch: replace, name: a}", "- {op: replace, path: '', value: {spec: {}}}\n",
		), []string{"spec.patches[0] replaces objects", "spec.patches[1] replaces metadata", "spec.patches[2] replaces objects"}},
		{"a patch that makes lists", patched("items: []", "- {op: add, path: /items, value: []}\n"), []string{
			"spec.patches[0] makes lists of objects; Flux applies only their items",
			"spec.patches[1] makes lists of objects; Flux applies only their items",
		}},
		{"operations that replace something else", patched("- {op: replace, path: /spec, value: {}}\n- {op: remove, path: /metadata/labels/team}\n"), nil},
		{"a patch too large to be read", patched(strings.Repeat("#", maxPatch+1)), []string{"spec.patches[0] is larger than 65536 bytes, and is not read"}},
		{
			"common metadata", common(map[string]string{"kustomize.toolkit.fluxcd.io/prune": "enabled", "team": "a"}, map[string]string{"kustomize.toolkit.fluxcd.io/reconcile": "disabled"}),
			[]string{"spec.commonMetadata sets kustomize.toolkit.fluxcd.io/prune", "spec.commonMetadata sets kustomize.toolkit.fluxcd.io/reconcile"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			ks := kustomized(published2, published2, metav1.ConditionTrue, "ReconciliationSucceeded", "Applied")
			ks.Spec = test.spec
			ks.Spec.SourceRef.Kind = sourcev1.ExternalArtifactKind
			trimKustomization(ks) // as the cache has it
			c := consumerOf(ks, published2)
			if !slices.Equal(c.interferences, test.want) {
				t.Errorf("named are %q, want %q", c.interferences, test.want)
			}
			got := appliedCondition(Consumers{Known: true, Items: []Consumer{c}}.Applied(published2, nil, nil))
			want := "True Succeeded: applied by 1 of 1 Kustomizations, revision sha256:222222222222"
			for i, interference := range test.want[:min(len(test.want), maxInterferences)] {
				want += "; Kustomization flux-system/apps: " + interference
				if more := len(test.want) - maxInterferences; i == maxInterferences-1 && more > 0 {
					want += fmt.Sprintf("; and %d more", more)
				}
			}
			if got != want {
				t.Errorf("Applied is %q, want %q", got, want)
			}
		})
	}
}

func TestWhatConsumersChangeIsBounded(t *testing.T) {
	consumers := Consumers{Known: true}
	for i := range 100 {
		ks := kustomized(published2, published2, metav1.ConditionFalse, "ReconciliationFailed", "no such kind")
		ks.Name = fmt.Sprintf("apps-%d", i)
		ks.Spec = patched("metadata: {annotations: {kustomize.toolkit.fluxcd.io/" + strings.Repeat("x", 500) + ": a}}")
		consumers.Items = append(consumers.Items, consumerOf(ks, published2))
	}
	applied := consumers.Applied(published2, nil, nil)
	if applied.Status != metav1.ConditionFalse || len(applied.Message) > 2<<10 || !strings.HasSuffix(applied.Message, "; and 97 more") {
		t.Errorf("%s with %d bytes: %s", applied.Status, len(applied.Message), applied.Message)
	}
}

// SPDX-License-Identifier: Apache-2.0

package catalog_test

import (
	"strings"
	"testing"
)

func TestLoadChecksTheMetadataOfObjects(t *testing.T) {
	const path = "applications/x/application.yaml"
	reserved := func(line, kind, key, reason string) string {
		return path + ":" + line + ": metadata." + kind + `: the key "` + key + `" is not allowed: ` + reason
	}
	const (
		kustomize = "kustomize acts on it, and may drop or rename the object"
		flux      = "how Flux treats an object is not the catalog's to say"
		winnow    = "only Winnow sets it"
		admins    = "only a cluster's admins take a definition out of updates"
	)
	for _, test := range []struct {
		name, metadata string // begins in line 5
		want           []string
	}{
		{
			"what authors write is fine",
			"namespace: y\nlabels: {a.b/C: d_e, f: ''}\nannotations: {A.b/c: \"any\\n\\tthing\"}\nfinalizers: [a/b, c]\ncreationTimestamp: null\n", nil,
		},
		{"null is nothing", "namespace:\nlabels:\nannotations: ~\nfinalizers:\nownerReferences:\nuid:\nmanagedFields:\n", nil},
		{
			"fields of the API server are refused, as it refuses or ignores them",
			"uid: ''\nresourceVersion:\ngeneration: 1\ncreationTimestamp: '2026-01-02T03:04:05Z'\ndeletionTimestamp: '2026-01-02T03:04:05Z'\n" +
				"deletionGracePeriodSeconds: 0\nselfLink: a\nmanagedFields: []\n",
			[]string{
				path + ":5: metadata.uid is not allowed: it is the API server's",
				path + ":6: metadata.resourceVersion is not allowed: it is the API server's",
				path + ":7: metadata.generation is not allowed: it is the API server's",
				path + ":8: metadata.creationTimestamp is not allowed: it is the API server's",
				path + ":9: metadata.deletionTimestamp is not allowed: it is the API server's",
				path + ":10: metadata.deletionGracePeriodSeconds is not allowed: it is the API server's",
				path + ":11: metadata.selfLink is not allowed: it is the API server's",
				path + ":12: metadata.managedFields is not allowed: it is the API server's",
			},
		},
		{
			"owners, unknown fields and wrong types are refused",
			"ownerReferences:\n- {uid: a}\nclusterName: a\nnamespace: 1\nfinalizers: a\nlabels: []\nannotations: a\n",
			[]string{
				path + ":5: metadata.ownerReferences is not allowed: the object would go with owners that no catalog can know",
				path + `:7: metadata has the field "clusterName", which Kubernetes does not know`,
				path + ":8: metadata.namespace must be a string, not a number",
				path + ":9: metadata.finalizers must be a list, not a string",
				path + ":10: metadata.labels must be a mapping, not a list",
				path + ":11: metadata.annotations must be a mapping, not a string",
			},
		},
		{"finalizers are names", "finalizers:\n- 1\n- a b\n", []string{
			path + ":6: metadata.finalizers[0] must be a string, not a number",
			path + `:7: metadata.finalizers[1] "a b" is not valid: ` + labelName,
		}},
		{
			"labels and annotations are strings, with keys and values of Kubernetes",
			"labels:\n  a: 1\n  b: ~\n  c d: e\n  f: g h\nannotations:\n  a: true\n  b: [c]\n  d e: f\n",
			[]string{
				path + `:6: metadata.labels: the value of "a" must be a string, not a number`,
				path + `:7: metadata.labels: the value of "b" must be a string, not null`,
				path + `:8: metadata.labels: the key "c d" is not valid: ` + labelName,
				path + `:9: metadata.labels: the value "g h" of "f" is not valid: ` + labelValue,
				path + `:11: metadata.annotations: the value of "a" must be a string, not a boolean`,
				path + `:12: metadata.annotations: the value of "b" must be a string, not a list`,
				path + `:13: metadata.annotations: the key "d e" is not valid: ` + labelName,
			},
		},
		{
			"annotations that steer kustomize are refused, also merged ones",
			"annotations:\n  <<: {config.kubernetes.io/local-config: 'true'}\n  internal.config.kubernetes.io/needsHashSuffix: enabled\n" +
				"  internal.config.kubernetes.io/previousNames: a,b\n  alpha.config.kubernetes.io/transformations: a\n  config.k8s.io/id: a\n  kustomize.config.k8s.io/behavior: merge\n" +
				"  Config.Kubernetes.io/Local-Config: 'true'\nlabels: {config.kubernetes.io/local-config: 'true'}\n",
			[]string{
				reserved("6", "annotations", "config.kubernetes.io/local-config", kustomize),
				reserved("7", "annotations", "internal.config.kubernetes.io/needsHashSuffix", kustomize),
				reserved("8", "annotations", "internal.config.kubernetes.io/previousNames", kustomize),
				reserved("9", "annotations", "alpha.config.kubernetes.io/transformations", kustomize),
				reserved("10", "annotations", "config.k8s.io/id", kustomize),
				reserved("11", "annotations", "kustomize.config.k8s.io/behavior", kustomize),
				reserved("12", "annotations", "Config.Kubernetes.io/Local-Config", kustomize),
				reserved("13", "labels", "config.kubernetes.io/local-config", kustomize),
			},
		},
		{
			"what Flux and Winnow act on is refused",
			"annotations:\n  kustomize.toolkit.fluxcd.io/force: enabled\n  catalog.winnow.dev/a: b\nlabels:\n  kustomize.toolkit.fluxcd.io/name: a\n  catalog.winnow.dev/name: b\n",
			[]string{
				reserved("6", "annotations", "kustomize.toolkit.fluxcd.io/force", flux),
				reserved("7", "annotations", "catalog.winnow.dev/a", winnow),
				reserved("9", "labels", "kustomize.toolkit.fluxcd.io/name", flux),
				reserved("10", "labels", "catalog.winnow.dev/name", winnow),
			},
		},
		{
			"a catalog sets neither the bypass nor anything of any domain of Flux",
			"labels:\n  apps.k8c.io/application-bypass: ''\n  toolkit.fluxcd.io/tenant: a\n  fluxcd.io/sync: a\n" +
				"annotations:\n  Apps.k8c.io/Application-Bypass: ''\n  reconcile.fluxcd.io/requestedAt: a\n  Kustomize.Toolkit.Fluxcd.IO/Force: enabled\n",
			[]string{
				reserved("6", "labels", "apps.k8c.io/application-bypass", admins),
				reserved("7", "labels", "toolkit.fluxcd.io/tenant", flux),
				reserved("8", "labels", "fluxcd.io/sync", flux),
				reserved("10", "annotations", "Apps.k8c.io/Application-Bypass", admins),
				reserved("11", "annotations", "reconcile.fluxcd.io/requestedAt", flux),
				reserved("12", "annotations", "Kustomize.Toolkit.Fluxcd.IO/Force", flux),
			},
		},
		{
			"keys that only look reserved are fine",
			"annotations: {config.kubernetes.io: a, b.catalog.winnow.dev/c: d, notfluxcd.io/e: f}\nlabels: {myconfig.kubernetes.io/g: h, apps.k8c.io/other: i, apps.kubermatic.k8c.io/managed-by: kkp}\n",
			nil,
		},
		{"a namespace is a name", "namespace: a.b\n", []string{path + `:5: metadata.namespace "a.b" is not valid: must not contain dots`}},
		{
			"an annotation that kustomize cannot write is refused, because it leaves its style",
			`annotations: {a: "\tb\nc", d: "\te"}` + "\n",
			[]string{path + `:5: metadata.annotations: the value of "a" has several lines and begins with a tab, which kustomize cannot write`},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			metadata := "  name: x\n  " + strings.ReplaceAll(strings.TrimSuffix(test.metadata, "\n"), "\n", "\n  ") + "\n"
			compare(t, violations(t, files{path: strings.Replace(definition("x"), "  name: x\n", metadata, 1)}.fs()), test.want)
		})
	}
}

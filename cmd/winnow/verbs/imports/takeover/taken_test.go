// SPDX-License-Identifier: Apache-2.0

package takeover_test

import (
	"strings"
	"testing"
)

// applied are the labels of what a Kustomization applies.
const (
	applied        = ", labels: {kustomize.toolkit.fluxcd.io/name: apps, kustomize.toolkit.fluxcd.io/namespace: flux-system}"
	appliedWarning = "HelmRelease flux-system/web: the Kustomization flux-system/apps applies it: give it the annotation " +
		"kustomize.toolkit.fluxcd.io/prune: disabled there before you remove it there"
)

func TestReleasesBecomeInstances(t *testing.T) {
	for name, test := range map[string]struct {
		spec, items string
		// want is the spec of the output, and warnings what is told besides.
		want, warnings string
	}{
		"values of the defaults are left out": {
			items: live("web", "", fromOCI+`, targetNamespace: web, values: {replicas: 1, image: {tag: "${A}", pull: Always}, own: {}}`, ""),
			want: `instances:
  web:
    createNamespace: false
    interval: 10m0s
    namespace: web
    releaseName: web-web
    values:
      image:
        tag: ${A}
      own: {}
    version: 1.0.0`,
			warnings: "HelmRelease flux-system/web: a value has ${, which a Kustomization with postBuild replaces: the selection needs the annotation kustomize.toolkit.fluxcd.io/substitute: disabled then",
		},
		"values that the release does not set change": {
			items: live("web", "", fromOCI+`, values: {image: {tag: c4nary}}`, ""),
			want: `instances:
  web:
    createNamespace: false
    interval: 10m0s
    namespace: flux-system
    values:
      image:
        tag: c4nary
    version: 1.0.0`,
			warnings: "HelmRelease flux-system/web: the definition changes its values image.pull, replicas",
		},
		"values that overrides change": {
			spec:  `values: [{names: [web], instanceOverrides: {replicas: 3, image: {pull: null}}}]`,
			items: live("web", "", fromOCI+", "+allDefaults, ""),
			want: `instances:
  web:
    createNamespace: false
    interval: 10m0s
    namespace: flux-system
    version: 1.0.0`,
			warnings: "HelmRelease flux-system/web: the definition changes its values image.pull, replicas",
		},
		"values over references stay": {
			items: live("web", "", fromOCI+`, `+allDefaults+`, valuesFrom: [{kind: Secret, name: keys, targetPath: a.b, optional: true}]`, ""),
			want: `instances:
  web:
    createNamespace: false
    interval: 10m0s
    namespace: flux-system
    values:
      image:
        pull: Always
        tag: stable
      replicas: 1
    valuesFrom:
      - kind: Secret
        name: keys
        optional: true
        targetPath: a.b
    version: 1.0.0`,
		},
		"a null is told": {
			items: live("web", "", fromOCI+`, values: {replicas: 1, image: {tag: stable, pull: Always, sum: null}}`, ""),
			want: `instances:
  web:
    createNamespace: false
    interval: 10m0s
    namespace: flux-system
    values:
      image:
        sum: null
    version: 1.0.0`,
			warnings: "HelmRelease flux-system/web: the value image.sum is null, and a patch of kustomize takes that for the removal of a field: add this instance to the file of the selection itself",
		},
		"a release with names of its own, from a Helm repository in another namespace": {
			items: live("tls", "", fromHTTP+", releaseName: old, storageNamespace: helm, targetNamespace: certs, timeout: 180s, suspend: true, serviceAccountName: deployer", ""),
			want: `instances:
  tls:
    application: certs
    createNamespace: false
    interval: 10m0s
    namespace: certs
    releaseName: old
    serviceAccountName: deployer
    storageNamespace: helm
    suspend: true
    timeout: 3m0s
    version: v1.17.2`,
		},
		"a name that helm-controller shortens": {
			items: live("web", "", fromOCI+", targetNamespace: a-namespace-with-a-name-that-is-longer-than-helm-allows, "+allDefaults, ""),
			want: `instances:
  web:
    createNamespace: false
    interval: 10m0s
    namespace: a-namespace-with-a-name-that-is-longer-than-helm-allows
    releaseName: a-namespace-with-a-name-that-is-longer-t-776b8e1e6b40
    version: 1.0.0`,
		},
		"a range that has installed a version": {
			items: live("web", "", "chartRef: {kind: OCIRepository, name: web-range}, "+allDefaults, "history: [{chartVersion: 1.1.0+0123456789ab}, {chartVersion: 1.0.0}]"),
			want: `instances:
  web:
    createNamespace: false
    interval: 10m0s
    namespace: flux-system
    version: 1.1.0`,
		},
		"a Helm repository in a registry": {
			items: live("web", applied, "chart: {spec: {chart: web, version: 1.0.0, sourceRef: {kind: HelmRepository, name: registry}}}, "+allDefaults, ""),
			want: `instances:
  web:
    createNamespace: false
    interval: 10m0s
    namespace: flux-system
    version: 1.0.0`,
			warnings: appliedWarning + "\nHelmRelease flux-system/web: its chart comes through an OCIRepository now: helm-controller adds the digest to the version of the chart, and upgrades the release once",
		},
		"an OCIRepository that helm-controller makes": {
			items: live("web", applied, fromTemplate("ref: {tag: 1.0.0}")+", "+allDefaults, ""),
			want: `instances:
  web:
    createNamespace: false
    interval: 10m0s
    namespace: flux-system
    version: 1.0.0`,
			warnings: appliedWarning,
		},
		"a range of an OCIRepository that helm-controller makes": {
			items: live("web", applied, fromTemplate("ref: {semver: 1.x}")+", "+allDefaults, "history: [{chartVersion: 1.1.0+0123456789ab}]"),
			want: `instances:
  web:
    createNamespace: false
    interval: 10m0s
    namespace: flux-system
    version: 1.1.0`,
			warnings: appliedWarning,
		},
		"fields that are empty": {
			items: live("tls", "", strings.Replace(fromHTTP, "chart: certs,", "chart: certs, valuesFiles: [],", 1)+
				", postRenderers: [], commonMetadata: {labels: {}, annotations: {}}, kubeConfig: null, dependsOn: [], valuesFrom: [], values: {}", ""),
			want: `instances:
  tls:
    application: certs
    createNamespace: false
    interval: 10m0s
    namespace: flux-system
    version: v1.17.2`,
		},
		"dependencies on what is imported": {
			items: live("web", "", fromOCI+", maxHistory: 3, "+allDefaults+", dependsOn: [{name: tls}, {name: db}, {name: tls, namespace: elsewhere}]", "") + live("tls", "", fromHTTP, ""),
			want: `instances:
  tls:
    application: certs
    createNamespace: false
    interval: 10m0s
    namespace: flux-system
    version: v1.17.2
  web:
    createNamespace: false
    dependsOn:
      - tls
    interval: 10m0s
    namespace: flux-system
    version: 1.0.0
patches:
  - patch: |
      apiVersion: helm.toolkit.fluxcd.io/v2
      kind: HelmRelease
      metadata:
        name: any
      spec:
        maxHistory: 3
    target:
      group: helm.toolkit.fluxcd.io
      kind: HelmRelease
      name: web
      namespace: flux-system`,
			warnings: "HelmRelease flux-system/web: it depends on flux-system/db, which is not imported: the instance does not wait for it\n" +
				"HelmRelease flux-system/web: it depends on elsewhere/tls, which is not imported: the instance does not wait for it",
		},
		"what an instance cannot say is patched, once for all that need it": {
			spec: `patches: [{target: {kind: HelmRelease, name: we.}, patch: '[{"op": "replace", "path": "/spec/interval", "value": "1h"}]'}]`,
			items: live("web", ", labels: {sharding.fluxcd.io/key: a}", fromOCI+", "+allDefaults+`, install: {crds: Skip, remediation: {retries: 3}}, upgrade: {chartNameChangeStrategy: Reinstall}`, "") +
				live("two", "", fromOCI+", "+allDefaults+", driftDetection: {mode: enabled}, upgrade: {strategy: {name: RetryOnFailure, retryInterval: 1m}}", "") +
				live("one", "", fromOCI+", "+allDefaults+", driftDetection: {mode: enabled}, upgrade: {strategy: {name: RetryOnFailure, retryInterval: 1m}}", ""),
			want: `instances:
  one:
    application: web
    createNamespace: false
    interval: 10m0s
    namespace: flux-system
    version: 1.0.0
  two:
    application: web
    createNamespace: false
    interval: 10m0s
    namespace: flux-system
    version: 1.0.0
  web:
    createNamespace: false
    interval: 10m0s
    namespace: flux-system
    version: 1.0.0
patches:
  - patch: '[{"op": "replace", "path": "/spec/interval", "value": "1h"}]'
    target:
      kind: HelmRelease
      name: we.
  - patch: |
      apiVersion: helm.toolkit.fluxcd.io/v2
      kind: HelmRelease
      metadata:
        name: any
      spec:
        driftDetection:
          mode: enabled
        upgrade:
          strategy:
            retryInterval: 1m
    target:
      group: helm.toolkit.fluxcd.io
      kind: HelmRelease
      name: one|two
      namespace: flux-system
  - patch: |
      apiVersion: helm.toolkit.fluxcd.io/v2
      kind: HelmRelease
      metadata:
        labels:
          sharding.fluxcd.io/key: a
        name: any
      spec:
        install:
          crds: Skip
          remediation:
            retries: 3
          strategy:
            name: RemediateOnFailure
        interval: 10m
    target:
      group: helm.toolkit.fluxcd.io
      kind: HelmRelease
      name: web
      namespace: flux-system`,
		},
		"dependencies on an instance that there is": {
			spec:  "instances: {tls: {application: certs, version: v1.17.2}}",
			items: live("web", "", fromOCI+", "+allDefaults+", dependsOn: [{name: tls}]", ""),
			want: `instances:
  web:
    createNamespace: false
    dependsOn:
      - tls
    interval: 10m0s
    namespace: flux-system
    version: 1.0.0`,
		},
		"owners are told": {
			spec:  "provenance: Object",
			items: live("web", applied, fromOCI+", "+allDefaults, ""),
			want: `instances:
  web:
    createNamespace: false
    interval: 10m0s
    namespace: flux-system
    version: 1.0.0`,
			warnings: appliedWarning,
		},
		"installations of KKP": {
			items: `
- apiVersion: apps.kubermatic.k8c.io/v1
  kind: ApplicationInstallation
  metadata: {name: web, namespace: flux-system}
  spec:
    applicationRef: {name: web, version: 1.1.0}
    namespace: {name: web, create: true}
    reconciliationInterval: 0s
    valuesBlock: |
      replicas: 1
      image: {tag: "{{ .Cluster.Version }}", pull: Always}
    deployOptions: {helm: {wait: true, timeout: 3m0s}}
- apiVersion: apps.kubermatic.k8c.io/v1
  kind: ApplicationInstallation
  metadata: {name: certs, namespace: flux-system}
  spec:
    applicationRef: {name: certs, version: v1.17.2}
    namespace: {name: certs, create: false}
    valuesBlock: "a: 1"`,
			want: `instances:
  certs:
    backend: ApplicationInstallation
    createNamespace: false
    namespace: certs
    values:
      a: 1
    version: v1.17.2
  web:
    backend: ApplicationInstallation
    createNamespace: true
    namespace: web
    values:
      image:
        tag: '{{ .Cluster.Version }}'
    version: 1.1.0
patches:
  - patch: |
      apiVersion: apps.kubermatic.k8c.io/v1
      kind: ApplicationInstallation
      metadata:
        name: any
      spec:
        deployOptions:
          helm:
            timeout: 3m0s
            wait: true
        namespace:
          labels: null
    target:
      group: apps.kubermatic.k8c.io
      kind: ApplicationInstallation
      name: web
      namespace: flux-system`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			result, cs := take(t, test.spec, test.items)
			if got := textOf(result.Refused); got != "" {
				t.Fatalf("refused\n%s", got)
			}
			content, err := result.YAML(cs)
			if err != nil {
				t.Fatal(err)
			}
			want := "apiVersion: catalog.winnow.dev/v1alpha1\nkind: CatalogSelection\nmetadata:\n  name: apps\n  namespace: flux-system\nspec:\n" +
				strings.ReplaceAll("  "+test.want, "\n", "\n  ") + "\n"
			if string(content) != want {
				t.Errorf("got\n%s\nwant\n%s", content, want)
			}
			warnings := textOf(result.Warnings)
			if warnings != test.warnings || strings.Contains(warnings, secret) {
				t.Errorf("warnings\n%s\nwant\n%s", warnings, test.warnings)
			}
		})
	}
}

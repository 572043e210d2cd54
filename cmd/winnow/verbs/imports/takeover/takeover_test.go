// SPDX-License-Identifier: Apache-2.0

package takeover_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/imports/importing"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/imports/takeover"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/selection"
)

// secret stands in every value: no message may have it.
const secret = "c4nary"

// apps has a chart in a registry and one in a Helm repository.
const apps = `
apiVersion: apps.kubermatic.k8c.io/v1
kind: ApplicationDefinition
metadata: {name: web}
spec:
  method: helm
  description: Web.
  defaultNamespace: {name: web, create: true, labels: {team: catalog}}
  defaultValuesBlock: |
    replicas: 1
    image: {tag: stable, pull: Always}
  versions:
  - {version: 1.0.0, template: {source: {helm: {url: oci://charts.example.com/platform, chartName: web, chartVersion: 1.0.0}}}}
  - {version: 1.1.0, template: {source: {helm: {url: oci://charts.example.com/platform, chartName: web, chartVersion: 1.1.0+build.3}}}}
---
apiVersion: apps.kubermatic.k8c.io/v1
kind: ApplicationDefinition
metadata: {name: certs}
spec:
  method: helm
  description: Certificates.
  defaultDeployOptions: {helm: {wait: true, atomic: true, timeout: 3m}}
  versions:
  - {version: v1.17.2, template: {source: {helm: {url: https://charts.example.com/stable/, chartName: certs, chartVersion: v1.17.2}}}}
---
apiVersion: apps.kubermatic.k8c.io/v1
kind: ApplicationDefinition
metadata: {name: kkp}
spec:
  method: helm
  description: For KKP.
  defaultValuesBlock: |
    cluster: "{{ .Cluster.Name }}"
  versions:
  - {version: 1.0.0, template: {source: {helm: {url: oci://charts.example.com/platform, chartName: kkp, chartVersion: 1.0.0}}}}
`

const sources = `
- apiVersion: source.toolkit.fluxcd.io/v1
  kind: OCIRepository
  metadata: {name: kkp, namespace: flux-system}
  spec: {interval: 5m, url: oci://charts.example.com/platform/kkp, ref: {tag: 1.0.0}}
- apiVersion: source.toolkit.fluxcd.io/v1
  kind: OCIRepository
  metadata: {name: web, namespace: flux-system}
  spec: {interval: 5m, url: oci://charts.example.com/platform/web, ref: {tag: 1.0.0}, provider: generic}
- apiVersion: source.toolkit.fluxcd.io/v1
  kind: OCIRepository
  metadata: {name: web-range, namespace: flux-system}
  spec: {interval: 5m, url: oci://charts.example.com/platform/web, ref: {semver: 1.x}}
- apiVersion: source.toolkit.fluxcd.io/v1
  kind: OCIRepository
  metadata: {name: web-digest, namespace: flux-system}
  spec: {interval: 5m, url: oci://charts.example.com/platform/web, ref: {digest: "sha256:ab"}}
- apiVersion: source.toolkit.fluxcd.io/v1
  kind: OCIRepository
  metadata: {name: web-verified, namespace: flux-system}
  spec: {interval: 5m, url: oci://charts.example.com/platform/web, ref: {tag: 1.0.0}, verify: {provider: cosign}}
- apiVersion: source.toolkit.fluxcd.io/v1
  kind: OCIRepository
  metadata: {name: elsewhere, namespace: flux-system}
  spec: {interval: 5m, url: "oci://user:c4nary@other.example.com/web?token=c4nary", ref: {tag: 1.0.0}}
- apiVersion: source.toolkit.fluxcd.io/v1
  kind: HelmRepository
  metadata: {name: stable, namespace: sources}
  spec: {interval: 5m, url: https://charts.example.com/stable}
- apiVersion: source.toolkit.fluxcd.io/v1
  kind: HelmRepository
  metadata: {name: registry, namespace: flux-system}
  spec: {interval: 5m, type: oci, url: oci://charts.example.com/platform}
`

// live returns a HelmRelease with a spec in flow style.
func live(name, metadata, spec, status string) string {
	return `
- apiVersion: helm.toolkit.fluxcd.io/v2
  kind: HelmRelease
  metadata: {namespace: flux-system, name: ` + name + metadata + `}
  spec: {interval: 10m, ` + spec + `}
  status: {` + status + `}`
}

const (
	fromOCI     = `chartRef: {kind: OCIRepository, name: web}`
	fromHTTP    = `chart: {spec: {chart: certs, version: 1.17.2, sourceRef: {kind: HelmRepository, name: stable, namespace: sources}}}`
	allDefaults = `values: {replicas: 1, image: {tag: stable, pull: Always}}`
)

// fromTemplate is a chart whose OCIRepository helm-controller 1.7 makes.
func fromTemplate(spec string) string {
	return "chart: {kind: OCIRepository, spec: {url: oci://charts.example.com/platform/web, interval: 1h, " + spec + "}}"
}

// take imports a list of objects into a selection with a spec.
func take(t *testing.T, spec, items string) (*takeover.Result, *v1alpha1.CatalogSelection) {
	t.Helper()
	cs := &v1alpha1.CatalogSelection{}
	if err := yaml.Unmarshal([]byte(spec), &cs.Spec); err != nil {
		t.Fatal(err)
	}
	cs.Name, cs.Namespace = "apps", "flux-system"
	cs.Spec.Sources = []v1alpha1.SourceReference{{Name: "catalog"}}
	files := fstest.MapFS{}
	for i, text := range strings.Split(apps, "\n---\n") {
		dir := fmt.Sprintf("applications/%d/", i)
		files[dir+"application.yaml"] = &fstest.MapFile{Data: []byte(text)}
		files[dir+"metadata.yaml"] = &fstest.MapFile{Data: []byte("tier: gold")}
	}
	loaded, err := catalog.Load(t.Context(), files)
	if err != nil {
		t.Fatal(err)
	}
	objects, skipped, err := importing.Objects(t.Context(), "live.yaml", []byte("apiVersion: v1\nkind: List\nitems:"+sources+items))
	if err != nil || len(skipped) > 0 {
		t.Fatalf("%v %v", skipped, err)
	}
	result, err := takeover.Take(t.Context(), objects, cs, []selection.Source{{Name: "catalog", Catalog: loaded}})
	if err != nil {
		t.Fatal(err)
	}
	return result, cs
}

func textOf(findings []takeover.Finding) string {
	var lines []string
	for _, f := range findings {
		lines = append(lines, f.Kind+" "+f.Namespace+"/"+f.Name+": "+f.Text)
	}
	return strings.Join(lines, "\n")
}

func TestWhatIsNotTheSameIsRefused(t *testing.T) {
	for name, test := range map[string]struct {
		spec, items string
		// want is the beginning of what is refused, all of it.
		want []string
		// taken is the number of instances beside.
		taken int
	}{
		"a namespace of its own": {
			items: strings.Replace(live("web", "", fromOCI, ""), "namespace: flux-system", "namespace: web", 1),
			want:  []string{"HelmRelease web/web: it is in another namespace than the selection, flux-system, in which the objects of its instances are: import it into a selection in web"},
		},
		"a name that is no label": {
			items: live("web.example", "", fromOCI, ""),
			want:  []string{"HelmRelease flux-system/web.example: its name is no DNS label"},
		},
		"a source that is not there": {
			items: live("web", "", "chartRef: {kind: OCIRepository, name: nowhere}", ""),
			want:  []string{"HelmRelease flux-system/web: its OCIRepository flux-system/nowhere is not in the input: add it, as kubectl get"},
		},
		"a source in another namespace": {
			items: live("web", "", "chartRef: {kind: OCIRepository, name: web, namespace: other}", ""),
			want:  []string{"HelmRelease flux-system/web: its OCIRepository other/web is not in the input"},
		},
		"a chart of Git": {
			items: live("web", "", "chart: {spec: {chart: ./web, sourceRef: {kind: GitRepository, name: web}}}", ""),
			want:  []string{"HelmRelease flux-system/web: its chart is of the kind GitRepository of source"},
		},
		"a HelmChart": {
			items: live("web", "", "chartRef: {kind: HelmChart, name: web}", ""),
			want:  []string{"HelmRelease flux-system/web: its chart is of a source of the kind HelmChart"},
		},
		"another registry, whose address has secrets": {
			items: live("web", "", "chartRef: {kind: OCIRepository, name: elsewhere}", ""),
			want:  []string{"HelmRelease flux-system/web: no selected application has its chart, oci://other.example.com/web; the application web installs oci://charts.example.com/platform/web"},
		},
		"a mirror to another registry": {
			spec:  "mirrors: [{from: charts.example.com, to: mirror.example.com/charts}]",
			items: live("web", "", fromOCI, ""),
			want:  []string{"HelmRelease flux-system/web: no selected application has its chart, oci://charts.example.com/platform/web; the application web installs oci://mirror.example.com/charts/platform/web"},
		},
		"an application that is not selected": {
			spec:  "exclude: [web]",
			items: live("web", "", fromOCI, ""),
			want:  []string{"HelmRelease flux-system/web: no selected application has its chart"},
		},
		"a version that the selection drops": {
			spec:  `versions: [{names: [web], constraint: ">=1.1"}]`,
			items: live("web", "", fromOCI, ""),
			want:  []string{"HelmRelease flux-system/web: the selection has its chart, but not in the version 1.0.0, only in 1.1.0"},
		},
		"a digest": {
			items: live("web", "", "chartRef: {kind: OCIRepository, name: web-digest}", ""),
			want:  []string{"HelmRelease flux-system/web: its OCIRepository names a digest"},
		},
		"a range that has installed nothing": {
			items: live("web", "", "chartRef: {kind: OCIRepository, name: web-range}", ""),
			want:  []string{"HelmRelease flux-system/web: the ref of its OCIRepository names no version, and its status.history has none"},
		},
		"a verified source": {
			items: live("web", "", "chartRef: {kind: OCIRepository, name: web-verified}", ""),
			want:  []string{"HelmRelease flux-system/web: spec.verify of its source differs from the source of the instance: set mirrors[].flux"},
		},
		"credentials of the selection that the source has not": {
			spec:  "mirrors: [{from: charts.example.com, to: charts.example.com, flux: {secretRef: {name: pull}}}]",
			items: live("web", "", fromOCI, ""),
			want:  []string{"HelmRelease flux-system/web: spec.secretRef of its source differs"},
		},
		"another cluster": {
			items: live("web", "", fromOCI+", kubeConfig: {secretRef: {name: "+secret+"}}", ""),
			want:  []string{"HelmRelease flux-system/web: spec.kubeConfig changes what is installed"},
		},
		"post-renderers": {
			items: live("web", "", fromOCI+", postRenderers: [{kustomize: {}}]", ""),
			want:  []string{"HelmRelease flux-system/web: spec.postRenderers changes what is installed"},
		},
		"common metadata": {
			items: live("web", "", fromOCI+", commonMetadata: {labels: {a: "+secret+"}}", ""),
			want:  []string{"HelmRelease flux-system/web: spec.commonMetadata changes what is installed"},
		},
		"files of values": {
			items: live("certs", "", strings.Replace(fromHTTP, "chart: certs,", "chart: certs, valuesFiles: [a.yaml],", 1), ""),
			want:  []string{"HelmRelease flux-system/certs: spec.chart.spec.valuesFiles is set"},
		},
		"a chart of a registry that another client than Flux has written": {
			items: live("web", "", "chart: {spec: {chart: web, version: 1.0.0, sourceRef: {kind: HelmRepository, name: registry}}}", ""),
			want:  []string{"HelmRelease flux-system/web: its chart is in a registry, so an instance has spec.chartRef"},
		},
		"values of KKP as an object that another client than Flux has written": {
			items: `
- apiVersion: apps.kubermatic.k8c.io/v1
  kind: ApplicationInstallation
  metadata: {name: web, namespace: flux-system}
  spec: {applicationRef: {name: web, version: 1.0.0}, namespace: {name: web, create: true}, values: {a: c4nary}}`,
			want: []string{"ApplicationInstallation flux-system/web: its values are in spec.values, and an instance has spec.valuesBlock"},
		},
		"a text of values that is no YAML": {
			items: `
- apiVersion: apps.kubermatic.k8c.io/v1
  kind: ApplicationInstallation
  metadata: {name: web, namespace: flux-system}
  spec: {applicationRef: {name: web, version: 1.0.0}, namespace: {name: web, create: true}, valuesBlock: "a: {{ c4nary }}"}`,
			want: []string{"ApplicationInstallation flux-system/web: its spec.valuesBlock is no YAML before its templates are executed"},
		},
		"a version of KKP that is not selected": {
			items: `
- apiVersion: apps.kubermatic.k8c.io/v1
  kind: ApplicationInstallation
  metadata: {name: web, namespace: flux-system}
  spec: {applicationRef: {name: web, version: 9.0.0}, namespace: {name: web, create: true}}
- apiVersion: apps.kubermatic.k8c.io/v1
  kind: ApplicationInstallation
  metadata: {name: db, namespace: flux-system}
  spec: {applicationRef: {name: db, version: 9.0.0}, namespace: {name: web, create: true}}`,
			want: []string{
				"ApplicationInstallation flux-system/db: no application db is selected",
				"ApplicationInstallation flux-system/web: the selection has the application, but not in the version 9.0.0, only in 1.0.0, 1.1.0",
			},
		},
		"an OCIRepository that helm-controller makes, of a release that another client than Flux has written": {
			items: live("web", "", fromTemplate("ref: {tag: 1.0.0}"), ""),
			want:  []string{"HelmRelease flux-system/web: its chart is in a registry, so an instance has spec.chartRef"},
		},
		"an OCIRepository that helm-controller makes, with a digest": {
			items: live("web", applied, fromTemplate(`ref: {digest: "sha256:ab"}`), ""),
			want:  []string{"HelmRelease flux-system/web: its OCIRepository names a digest"},
		},
		"an OCIRepository that helm-controller makes, which is verified": {
			items: live("web", applied, fromTemplate(`ref: {tag: 1.0.0}, verify: {provider: cosign}`), ""),
			want:  []string{"HelmRelease flux-system/web: spec.verify of its source differs from the source of the instance: set mirrors[].flux"},
		},
		"an OCIRepository that helm-controller makes, of another chart": {
			items: live("web", applied, strings.Replace(fromTemplate("ref: {tag: 1.0.0}"), "platform/web", "other/web", 1), ""),
			want:  []string{"HelmRelease flux-system/web: no selected application has its chart, oci://charts.example.com/other/web"},
		},
		"no chart": {
			items: live("web", "", "", ""),
			want:  []string{"HelmRelease flux-system/web: it names no source of its chart"},
		},
		"values that are none": {
			items: live("web", "", fromOCI, "") + strings.Replace(live("two", "", "values: ["+secret+"], "+fromOCI, ""), "10m, ", "10m,", 1),
			want: []string{
				"HelmRelease flux-system/two: its spec.values is no mapping",
			},
			taken: 1,
		},
		"a default that only KKP fills in": {
			items: strings.Replace(strings.Replace(live("kkp", "", fromOCI, ""), "name: web}", "name: kkp}", 1), "interval: 10m, ", "interval: 10m,", 1),
			want:  []string{`HelmRelease flux-system/kkp: spec.instances: instance kkp: definition kkp: spec.defaultValuesBlock.cluster: is a template that needs ".Cluster.Name"`},
		},
		"what is not valid, which a patch cannot keep": {
			items: live("web", "", fromOCI+", install: {strategy: 7}", ""),
			want:  []string{"HelmRelease flux-system/web: its spec.install cannot be patched: the object is not valid"},
		},
		"an owner": {
			items: live("web", ", ownerReferences: [{apiVersion: v1, kind: Pod, name: a, uid: b}]", fromOCI, ""),
			want:  []string{"HelmRelease flux-system/web: another object owns it"},
		},
		"an object of Winnow": {
			items: live("web", ", labels: {catalog.winnow.dev/name: a, catalog.winnow.dev/namespace: b}", fromOCI, ""),
			want:  []string{"HelmRelease flux-system/web: it is an object of the selection b/a already"},
		},
		"a deletion": {
			items: live("web", `, deletionTimestamp: "2026-01-01T00:00:00Z"`, fromOCI, ""),
			want:  []string{"HelmRelease flux-system/web: it is being deleted"},
		},
		"an instance that there is": {
			spec:  "instances: {web: {version: 1.0.0}}",
			items: live("web", "", fromOCI, ""),
			want:  []string{"HelmRelease flux-system/web: the selection has an instance of this name"},
		},
		"the same object twice": {
			items: live("web", "", fromOCI, "") + live("web", "", fromOCI, ""),
			want:  []string{"HelmRelease flux-system/web: the input has it twice"},
		},
		"one release of two objects": {
			items: live("web", "", fromOCI+", releaseName: shared", "") + live("other", "", fromOCI+", releaseName: shared", ""),
			want: []string{
				"HelmRelease flux-system/other: several objects install the release shared in flux-system",
				"HelmRelease flux-system/web: several objects install the release shared in flux-system",
			},
		},
		"a release that an object of another namespace installs too": {
			items: live("web", "", fromOCI, "") + strings.Replace(live("two", "", fromOCI+", releaseName: web, storageNamespace: flux-system", ""), "namespace: flux-system", "namespace: two", 1),
			want: []string{
				"HelmRelease flux-system/web: several objects install the release web in flux-system",
				"HelmRelease two/two: it is in another namespace than the selection",
			},
		},
		"a release that an instance of the selection installs": {
			spec:  "instances: {other: {application: certs, version: v1.17.2, releaseName: web}}",
			items: live("web", "", fromOCI, "") + live("two", "", fromOCI, ""),
			want:  []string{"HelmRelease flux-system/web: the instance other of the selection installs the release web in flux-system"},
			taken: 1,
		},
		"releases of one name with one target namespace": {
			items: live("web", "", fromOCI, "") + live("two", "", fromOCI+", releaseName: web, storageNamespace: two", ""),
			want: []string{
				"HelmRelease flux-system/two: several objects install the release web in flux-system",
				"HelmRelease flux-system/web: several objects install the release web in flux-system",
			},
		},
		"a release of an object that the input has twice": {
			items: live("web", "", fromOCI, "") + live("web", "", fromOCI, "") + live("two", "", fromOCI+", releaseName: web", ""),
			want: []string{
				"HelmRelease flux-system/two: several objects install the release web in flux-system",
				"HelmRelease flux-system/web: the input has it twice",
			},
		},
		"a circle of dependencies": {
			items: live("web", "", fromOCI+", dependsOn: [{name: two}]", "") + live("two", "", fromOCI+", dependsOn: [{name: web}]", "") +
				live("three", "", fromOCI+", dependsOn: [{name: three}]", "") + live("four", "", fromOCI+", dependsOn: [{name: web}]", ""),
			want: []string{
				"HelmRelease flux-system/three: it depends on itself, or on releases that depend on it",
				"HelmRelease flux-system/two: it depends on itself, or on releases that depend on it",
				"HelmRelease flux-system/web: it depends on itself, or on releases that depend on it",
			},
			taken: 1,
		},
		"two kinds of one name": {
			items: live("web", "", fromOCI, "") + `
- apiVersion: apps.kubermatic.k8c.io/v1
  kind: ApplicationInstallation
  metadata: {name: web, namespace: flux-system}
  spec: {applicationRef: {name: web, version: 1.0.0}, namespace: {name: web, create: true}}`,
			want: []string{
				"ApplicationInstallation flux-system/web: the HelmRelease of the same name would be the same instance",
				"HelmRelease flux-system/web: the ApplicationInstallation of the same name would be the same instance",
			},
		},
		"a patch that moves the release": {
			spec: `patches: [{target: {kind: HelmRelease}, patch: '[{"op": "replace", "path": "/spec/targetNamespace", "value": "other"}]'}]`, items: live("web", "", fromOCI, ""),
			want: []string{"HelmRelease flux-system/web: its target namespace is flux-system, and the instance would have other"},
		},
		"a patch of the selection that changes what is installed": {
			spec:  `patches: [{target: {kind: HelmRelease}, patch: '[{"op": "add", "path": "/spec/postRenderers", "value": []}]'}]`,
			items: live("web", "", fromOCI, ""),
			want:  []string{"HelmRelease flux-system/web: a patch of the selection sets spec.postRenderers, which changes what is installed"},
		},
		"a patch of the selection that adds values": {
			spec:  `patches: [{target: {kind: HelmRelease}, patch: '[{"op": "add", "path": "/spec/valuesFrom/-", "value": {"kind": "Secret", "name": "a"}}]'}]`,
			items: live("web", "", fromOCI, ""),
			want:  []string{"HelmRelease flux-system/web: a patch of the selection changes where its values come from"},
		},
		"a patch of the selection that changes the chart": {
			spec:  `patches: [{target: {kind: OCIRepository}, patch: '[{"op": "replace", "path": "/spec/url", "value": "oci://charts.example.com/other/web"}]'}]`,
			items: live("web", "", fromOCI, ""),
			want:  []string{"HelmRelease flux-system/web: its chart is oci://charts.example.com/platform/web in the version 1.0.0, and the instance would have oci://charts.example.com/other/web in the version 1.0.0"},
		},
		"a reference with a field that is not known": {
			items: live("web", "", fromOCI+", valuesFrom: [{kind: Secret, name: a, decrypt: true}]", ""),
			want:  []string{"HelmRelease flux-system/web: spec.valuesFrom has a field that is not known here"},
		},
		"an older version of the API": {
			items: strings.Replace(live("web", "", fromOCI, ""), "/v2", "/v2beta2", 1),
			want:  []string{"HelmRelease flux-system/web: its apiVersion is helm.toolkit.fluxcd.io/v2beta2, want helm.toolkit.fluxcd.io/v2"},
		},
		"another kind": {
			items: "\n- {apiVersion: v1, kind: Secret, metadata: {name: a, namespace: b}, stringData: {a: " + secret + "}}",
			want:  []string{"Secret b/a: it is neither a HelmRelease, nor an ApplicationInstallation"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			result, _ := take(t, test.spec, strings.ReplaceAll(test.items, "interval: 10m, ", "interval: 10m, values: {password: "+secret+"}, "))
			got := textOf(result.Refused)
			lines := strings.Split(got, "\n")
			if got == "" {
				lines = nil
			}
			if len(lines) != len(test.want) || strings.Contains(got+textOf(result.Warnings), secret) {
				t.Fatalf("refused\n%s\nwant %q", got, test.want)
			}
			for i, want := range test.want {
				if !strings.HasPrefix(lines[i], want) {
					t.Errorf("refused %s, want %s", lines[i], want)
				}
			}
			if len(result.Instances) != test.taken {
				t.Errorf("and imported %v", result.Instances)
			}
		})
	}
}

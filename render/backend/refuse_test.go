// SPDX-License-Identifier: Apache-2.0

package backend_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/backends"
)

// problem is one that Build has to report.
type problem struct{ path, message string }

// checkProblems compares problems, of whose messages a part is given.
func checkProblems(t *testing.T, err error, want ...problem) {
	t.Helper()
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		t.Fatalf("err = %v", err)
	}
	all := joined.Unwrap()
	if len(all) != len(want) {
		t.Fatalf("%d problems, want %d:\n%v", len(all), len(want), err)
	}
	for i, one := range all {
		var problem *backend.Error
		if !errors.As(one, &problem) || problem.Path != want[i].path || !strings.Contains(problem.Message, want[i].message) {
			t.Errorf("problem %d is %v, want %s: %s", i, one, want[i].path, want[i].message)
		}
	}
}

const source = "spec.versions[0].template.source"

func TestHelmRefusesSourcesThatFluxCannotFetch(t *testing.T) {
	version := func(source string) string {
		return "\n  method: helm\n  versions:\n  - version: 1.0.0\n    template: {" + source + "}\n"
	}
	helm := func(more string) string {
		return version("source: {helm: {chartName: web, chartVersion: 1.0.0, " + more + "}}")
	}
	for _, test := range []struct {
		name, spec string
		want       []problem
	}{
		{"git", version(`source: {git: {remote: "https://git.example.com/x.git", ref: {tag: v1}}}`), []problem{{source + ".git", "Git repository"}}},
		{"no source", version("source: {}"), []problem{{source + ".helm", "is missing"}}},
		{"templateCredentials", version(`templateCredentials: {helmCredentials: {username: {name: a, key: b}}}, source: {helm: {url: "https://x.example.com", chartName: web, chartVersion: 1.0.0}}`), []problem{{"spec.versions[0].template.templateCredentials", "KKP packages itself"}}},
		{"insecure", helm(`url: "oci://x.example.com", insecure: true`), []problem{{source + ".helm.insecure", "certSecretRef"}}},
		{"credentials without an equivalent", helm(`url: "oci://x.example.com", credentials: {registryConfigFile: {name: a, key: b}}`), []problem{{source + ".helm.credentials", "mirrors[].flux.secretRef"}}},
		{"a user in the URL", helm(`url: "https://u:hunter2@x.example.com"`), []problem{{source + ".helm.url", "password"}}},
		{"a query in the URL", helm(`url: "https://x.example.com/?token=hunter2"`), []problem{{source + ".helm.url", "password"}}},
		{"another scheme", helm(`url: "file:///charts"`), []problem{{source + ".helm.url", "must be a URL"}}},
		{"no host", helm(`url: "oci:///charts"`), []problem{{source + ".helm.url", "must be a URL"}}},
		{"a URL that is a number", helm(`url: 7`), []problem{{source + ".helm.url", "must be a string"}}},
		{"no chart", version(`source: {helm: {url: "https://x.example.com"}}`), []problem{{source + ".helm.chartName", "is missing"}, {source + ".helm.chartVersion", "is missing"}}},
		{"a range of versions", version(`source: {helm: {url: "https://x.example.com", chartName: web, chartVersion: ">=1.0.0"}}`), []problem{{source + ".helm.chartVersion", "one version"}}},
		{"a part of a version", version(`source: {helm: {url: "https://x.example.com", chartName: web, chartVersion: "1.0"}}`), []problem{{source + ".helm.chartVersion", "one version"}}},
		{"a path as a chart", version(`source: {helm: {url: "https://x.example.com", chartName: ../web, chartVersion: 1.0.0}}`), []problem{{source + ".helm.chartName", "no name of a chart"}}},
		{"a path as a repository", version(`source: {helm: {url: "oci://x.example.com/a", chartName: ../../web, chartVersion: 1.0.0}}`), []problem{{source + ".helm.chartName", "no name of a repository"}}},
		{"a tag in the URL", version(`source: {helm: {url: "oci://x.example.com/a:latest", chartName: web, chartVersion: 1.0.0}}`), []problem{{source + ".helm.url", "no name of a repository"}}},
		{"a URL that cannot be parsed", helm(`url: "https://u:hunter2@x example.com"`), []problem{{source + ".helm.url", "must be a URL"}}},
		{"another version", strings.Replace(helm(`url: "https://x.example.com"`), "version: 1.0.0", "version: 2.0.0", 1), []problem{{"spec.versions", `no entry "1.0.0"`}}},
		{"another method", strings.Replace(helm(`url: "https://x.example.com"`), "method: helm", "method: kustomize", 1), []problem{{"spec.method", "is not helm"}}},
		{"names looked up in templates", helm(`url: "https://x.example.com"`) + "  defaultDeployOptions: {helm: {enableDNS: true}}\n", []problem{{"spec.defaultDeployOptions.helm.enableDNS", "AllowDNSLookups"}}},
		{"a timeout that is none", helm(`url: "https://x.example.com"`) + "  defaultDeployOptions: {helm: {timeout: soon}}\n", []problem{{"spec.defaultDeployOptions.helm.timeout", "no duration"}}},
		{"labels that are no texts", helm(`url: "https://x.example.com"`) + "  defaultNamespace: {name: web, labels: {a: 1}}\n", []problem{{"spec.defaultNamespace.labels.a", "must be a string"}}},
		{"labels and annotations that are not valid", helm(`url: "https://x.example.com"`) + "  defaultNamespace: {name: web, labels: {a b: '1', c: 'x y'}, annotations: {'a/b/c': '', d: \"\\ta\\nb\"}}\n", []problem{
			{"spec.defaultNamespace.labels", `"a b"`}, {"spec.defaultNamespace.labels.c", "no value"}, {"spec.defaultNamespace.annotations", `"a/b/c"`}, {"spec.defaultNamespace.annotations.d", "tab"},
		}},
		{"what decides how objects are treated", helm(`url: "https://x.example.com"`) + "  defaultNamespace: {name: web, labels: {kustomize.toolkit.fluxcd.io/prune: disabled, catalog.winnow.dev/name: x}, annotations: {config.kubernetes.io/local-config: 'true'}}\n", []problem{
			{"spec.defaultNamespace.labels", "catalog.winnow.dev/name"}, {"spec.defaultNamespace.labels", "prune"}, {"spec.defaultNamespace.annotations", "local-config"},
		}},
		{"several at once", helm(`url: "https://x.example.com", insecure: true`) + "  defaultValuesBlock: 'a: {{ .Cluster.Name }}'\n  defaultDeployOptions: {helm: {enableDNS: true}}\n", []problem{
			{source + ".helm.insecure", ""}, {"spec.defaultDeployOptions.helm.enableDNS", ""}, {"spec.defaultValuesBlock", "put them in quotes"},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			instance := instanceOf(t, "apps.kubermatic.k8c.io/v1", "1.0.0", nil, test.spec)
			_, err := backends.Named(backend.Helm).Build(instance)
			checkProblems(t, err, test.want...)
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error has the password: %v", err)
			}
		})
	}
}

func TestFieldsOfInstancesAreChecked(t *testing.T) {
	yes := true
	for _, test := range []struct {
		name, backend string
		change        func(*backend.Instance)
		want          []problem
	}{
		{"no application", backend.Helm, func(i *backend.Instance) { i.Application = nil }, []problem{{"application", "is missing"}}},
		{"a name with dots", backend.Helm, func(i *backend.Instance) { i.Name = "a.b" }, []problem{{"name", "not valid"}}},
		{"a name that is too long for a release", backend.Helm, func(i *backend.Instance) { i.Name = strings.Repeat("a", 54) }, []problem{{"releaseName", "Helm allows 53"}}},
		{"a releaseName that is too long", backend.Helm, func(i *backend.Instance) { i.ReleaseName = strings.Repeat("a", 54) }, []problem{{"releaseName", "Helm allows 53"}}},
		{"a long name with a shorter release", backend.Helm, func(i *backend.Instance) { i.Name, i.ReleaseName = strings.Repeat("a", 63), "web" }, nil},
		{"namespaces", backend.Helm, func(i *backend.Instance) { i.TargetNamespace, i.StorageNamespace = "A", "b/c" }, []problem{{"namespace", ""}, {"storageNamespace", ""}}},
		{"durations", backend.Helm, func(i *backend.Instance) { i.Interval, i.Timeout = -1, time.Microsecond }, []problem{{"interval", ""}, {"timeout", ""}}},
		{"references", backend.Helm, func(i *backend.Instance) {
			i.ValuesFrom = []v1alpha1.ValuesReference{{Kind: "Pod"}, {Kind: "Secret", Name: "a", ValuesKey: "a/b", TargetPath: "a b"}}
		}, []problem{{"valuesFrom[0].kind", ""}, {"valuesFrom[0].name", ""}, {"valuesFrom[1].targetPath", ""}, {"valuesFrom[1].valuesKey", ""}}},
		{"too many references", backend.Helm, func(i *backend.Instance) { i.DependsOn = make([]string, 101) }, []problem{{"", "at most 100"}}},
		{"a dependency on itself", backend.Helm, func(i *backend.Instance) { i.DependsOn = []string{"a", "web"} }, []problem{{"dependsOn[1]", "itself"}}},
		{"values that are no JSON", backend.Helm, func(i *backend.Instance) {
			i.Values = map[string]any{"a": []any{1}, "b": map[string]any{"c": func() {}}}
		}, []problem{{"values.a[0]", "int"}, {"values.b.c", "func"}}},
		{"values without end", backend.Helm, func(i *backend.Instance) {
			i.Values = map[string]any{}
			i.Values["a"] = i.Values
		}, []problem{{"values" + strings.Repeat(".a", 100), "deeper"}}},
		{"values that no object can hold", backend.Helm, func(i *backend.Instance) { i.Values = map[string]any{"a": strings.Repeat("a", 1<<20)} }, []problem{{"", "HelmRelease has more than"}}},
		{"a text that kustomize cannot carry", backend.Helm, func(i *backend.Instance) {
			i.Values = map[string]any{"a": map[string]any{"<<": "b", "c": "\x7f"}}
		}, []problem{{"values.a.c", "U+007F"}, {"values.a", "<<"}}},
		{"no version", backend.Helm, func(i *backend.Instance) { i.Version = "" }, []problem{{"version", "is missing"}}},
		{"a provider of registries for a repository", backend.Helm, func(i *backend.Instance) { i.Access.Provider = "aws" }, []problem{{"access.provider", "for registries"}}},
		{"a provider that nobody knows", backend.Helm, func(i *backend.Instance) { i.Access.Provider = "acme" }, []problem{{"access.provider", "must be generic"}}},
		{"Terraform's field", backend.Helm, func(i *backend.Instance) { i.DestroyResources = true }, []problem{{"destroyResources", "leave it out"}}},
		{"the backend of another platform", backend.CozystackApplication, nil, []problem{{"backend", "name another backend"}}},
		{"the other backend of another platform", backend.Terraform, nil, []problem{{"backend", "name another backend"}}},
		{"what KKP does not have", backend.ApplicationInstallation, func(i *backend.Instance) {
			i.ReleaseName, i.StorageNamespace, i.ServiceAccountName, i.Suspend = "a", "b", "c", true
			i.DependsOn, i.ValuesFrom = []string{"a"}, []v1alpha1.ValuesReference{{Kind: "Secret", Name: "a"}}
			i.CreateNamespace = &yes
		}, []problem{{"releaseName", ""}, {"storageNamespace", ""}, {"serviceAccountName", ""}, {"suspend", ""}, {"dependsOn", ""}, {"valuesFrom", ""}}},
		{"a timeout where KKP does not wait", backend.ApplicationInstallation, func(i *backend.Instance) { i.Timeout = minute }, []problem{{"timeout", "deploy.wait"}}},
		{"what KKP manages", backend.ApplicationInstallation, func(i *backend.Instance) {
			i.Application.Labels = map[string]string{"apps.kubermatic.k8c.io/managed-by": "KKP"}
		}, []problem{{"metadata.labels.apps.kubermatic.k8c.io/managed-by", "KKP installs"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := backends.Named(test.backend).Build(kkpInstance(t, test.change, ""))
			if test.want == nil && err == nil {
				return
			}
			checkProblems(t, err, test.want...)
		})
	}
}

const cozystackSpec = `
  application: {kind: Web, singular: web, plural: webs, openAPISchema: '{"type": "object"}'}
`

func TestDefinitionsOfCozystackAreChecked(t *testing.T) {
	terraform := func(more string) string {
		return cozystackSpec + "  backend: {type: Terraform, terraform: {sourceRef: {kind: Bucket, name: a}, " + more + "}}\n"
	}
	release := func(more string) string {
		return cozystackSpec + "  release: {chartRef: {kind: HelmChart, name: a}, " + more + "}\n"
	}
	for _, test := range []struct {
		name, backend, spec string
		change              func(*backend.Instance)
		want                []problem
	}{
		{"no release", backend.Helm, cozystackSpec, nil, []problem{{"spec.release", "is missing"}}},
		{"the backend of another type", backend.Helm, terraform(""), nil, []problem{{"spec.backend.type", `"Terraform"`}}},
		{"no Terraform", backend.Terraform, release(""), nil, []problem{{"spec.backend", "name another backend"}}},
		{"another chartRef", backend.Helm, strings.Replace(release(""), "HelmChart", "GitRepository", 1), nil, []problem{{"spec.release.chartRef.kind", "GitRepository"}}},
		{"a field of chartRef that is not known", backend.Helm, strings.Replace(release(""), "name: a", "name: a, digest: b", 1), nil, []problem{{"spec.release.chartRef.digest", "not known"}}},
		{"values and health checks that are none", backend.Helm, release("valuesFrom: [{kind: Pod, name: a, key: b}, {kind: Secret, name: a, optional: 'yes'}], healthCheckExprs: [{kind: 1, current: a}], waitStrategy: never"), nil, []problem{
			{"spec.release.valuesFrom[0].key", "not known"}, {"spec.release.valuesFrom[0].kind", "ConfigMap or Secret"}, {"spec.release.valuesFrom[1].optional", "boolean"},
			{"spec.release.waitStrategy", "poller or legacy"}, {"spec.release.healthCheckExprs[0].kind", "string"}, {"spec.release.healthCheckExprs[0].apiVersion", "missing"},
		}},
		{"labels that are Flux's", backend.Helm, release("labels: {sharding.fluxcd.io/key: a, kustomize.toolkit.fluxcd.io/name: b}"), nil, []problem{{"spec.release.labels", "kustomize.toolkit.fluxcd.io/name"}}},
		{"a prefix that is none", backend.Helm, release("prefix: A_"), nil, []problem{{"spec.release.prefix", "not valid"}}},
		{"a prefix that makes the release too long", backend.Helm, release("prefix: " + strings.Repeat("a", 51)), nil, []problem{{"releaseName", "53"}}},
		{"a prefix that makes the release too long for Cozystack", backend.CozystackApplication, release("prefix: " + strings.Repeat("a", 51)), nil, []problem{{"name", "53"}}},
		{"an annotation that is not known", backend.Helm, release(""), func(i *backend.Instance) {
			i.Application.Annotations = map[string]string{"release.cozystack.io/new": "1", "release.cozystack.io/helm-install-disable-wait": "yes"}
		}, []problem{{"metadata.annotations.release.cozystack.io/helm-install-disable-wait", `must be "true"`}, {"metadata.annotations.release.cozystack.io/new", "not known"}}},
		{"a name that Cozystack refuses", backend.CozystackApplication, release(""), func(i *backend.Instance) { i.Name = "0db" }, []problem{{"name", "Cozystack"}}},
		{"the kind of definitions", backend.CozystackApplication, strings.Replace(release(""), "kind: Web", "kind: ApplicationDefinition", 1), nil,
			[]problem{{"spec.application.kind", "the kind of definitions"}}},
		{"keys of Cozystack", backend.CozystackApplication, release(""), func(i *backend.Instance) { i.Values = map[string]any{"_cluster": "a"} }, []problem{{"values._cluster", "Cozystack's own"}}},
		{"what Cozystack does not have", backend.CozystackApplication, release(""), func(i *backend.Instance) {
			i.Version, i.Interval, i.Suspend = "1", minute, true
		}, []problem{{"version", ""}, {"interval", ""}, {"suspend", ""}}},
		{"names of variables", backend.Terraform, terraform(""), func(i *backend.Instance) {
			i.Values = map[string]any{"a.b": "1", "source": "2", "ok-1": "3"}
		}, []problem{{"values.a.b", "variable"}, {"values.source", "variable"}}},
		{"all keys of a Secret", backend.Terraform, terraform(""), func(i *backend.Instance) {
			i.ValuesFrom = []v1alpha1.ValuesReference{{Kind: "Secret", Name: "a"}}
		}, []problem{{"valuesFrom[0]", "targetPath"}}},
		{"a Secret that would win", backend.Terraform, terraform(""), func(i *backend.Instance) {
			i.Values = map[string]any{"token": nil}
			i.ValuesFrom = []v1alpha1.ValuesReference{{Kind: "Secret", Name: "a", ValuesKey: "k", TargetPath: "token"}}
		}, []problem{{"valuesFrom[0].targetPath", "would win"}}},
		{"another namespace", backend.Terraform, terraform(""), func(i *backend.Instance) { i.TargetNamespace = "other" }, []problem{{"namespace", "leave it out"}}},
		{"outputs without a name", backend.Terraform, terraform("writeOutputsToSecret: {outputs: [a]}"), nil, []problem{{"spec.backend.terraform.writeOutputsToSecret.name", "is missing"}}},
		{"another source of modules", backend.Terraform, strings.Replace(terraform(""), "Bucket", "ExternalArtifact", 1), nil, []problem{{"spec.backend.terraform.sourceRef.kind", "ExternalArtifact"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := backends.Named(test.backend).Build(instanceOf(t, "cozystack.io/v1alpha1", "", test.change, test.spec))
			checkProblems(t, err, test.want...)
		})
	}
}

func TestProblemsAreBounded(t *testing.T) {
	_, err := backends.Named(backend.Terraform).Build(instanceOf(t, "cozystack.io/v1alpha1", "", func(i *backend.Instance) {
		i.Values = map[string]any{}
		for n := range 500 {
			i.Values[strings.Repeat("?", n+1)] = true
		}
	}, cozystackSpec+"  backend: {type: Terraform, terraform: {sourceRef: {kind: Bucket, name: a}}}\n"))
	if err == nil || !strings.Contains(err.Error(), "more problems") || len(err.Error()) > 20_000 {
		t.Errorf("%d bytes: %v", len(err.Error()), err)
	}
}

func TestProblemsHaveAnOrder(t *testing.T) {
	fail := func() string {
		_, err := backends.Named(backend.Helm).Build(kkpInstance(t, func(i *backend.Instance) {
			i.TargetNamespace, i.StorageNamespace, i.ReleaseName = "A", "B", "C"
		}, ""))
		return err.Error()
	}
	want := fail()
	for range 50 {
		if got := fail(); got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	}
}

func TestAProblemPrintsNothingThatATerminalObeys(t *testing.T) {
	err := &backend.Error{Instance: "web", Path: "values.a\x1b[2J\nall is well", Message: "is wrong"}
	if strings.ContainsAny(err.Error(), "\x1b\n") || !strings.Contains(err.Error(), "all is well") {
		t.Errorf("%q", err.Error())
	}
}

// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package install_test

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/test/stack"
)

// without lists the resources of config/default but for those that are named.
func without(left ...string) string {
	var lines strings.Builder
	for _, resource := range []string{
		"default/namespace.yaml", "default/resource_quota.yaml", "crd", "rbac", "marks", "registries", "manager", "network-policy",
		"default/source_controller_network_policy.yaml",
	} {
		if !slices.Contains(left, resource) {
			lines.WriteString("- " + resource + "\n")
		}
	}
	return "resources:\n" + lines.String()
}

// optional adds a directory to the resources of config/default.
func optional(dir string) string { return "resources:\n- default\n- " + dir + "\n" }

// patch adds an operation of JSON patch on the objects of a kind.
func patch(kind, operation string) string {
	return "patches:\n- target: {kind: " + kind + "}\n  patch: |\n    - " + operation + "\n"
}

// TestTheChartInstallsWhatConfigDoes renders the chart with Helm and config with kustomize, without options and with each.
func TestTheChartInstallsWhatConfigDoes(t *testing.T) {
	helm, err := stack.Helm(t.Context(), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	const plain = "resources:\n- default\n"
	for name, test := range map[string]struct {
		namespace     string // of the release; winnow-system if empty
		flags         []string
		kustomization string
	}{
		"no option":                {kustomization: plain},
		"in the namespace of Flux": {namespace: "flux-system", kustomization: "resources:\n- overlays/flux-system\n"},
		"for tenants":              {flags: []string{"multitenant.enabled=true"}, kustomization: "resources:\n- overlays/multitenant\n"},
		"for tenants, in the namespace of Flux": {
			namespace: "flux-system", flags: []string{"multitenant.enabled=true"}, kustomization: "resources:\n- overlays/multitenant-flux-system\n",
		},
		"without the definition": {flags: []string{"crds.install=false"}, kustomization: without("crd")},
		"without marks":          {flags: []string{"marks.enabled=false"}, kustomization: without("marks")},
		"without registries":     {flags: []string{"registries.enabled=false"}, kustomization: without("registries")},
		"with a namespace of registries": {
			flags:         []string{"registries.namespaces={tenant-a,flux-system}"},
			kustomization: "resources:\n- default\n- tenant-a\n",
		},
		"for tenants, with a namespace of registries": {
			flags:         []string{"multitenant.enabled=true", "registries.namespaces={tenant-a}"},
			kustomization: "resources:\n- overlays/multitenant\n- tenant-a\n",
		},
		"with registries of all namespaces": {
			flags:         []string{"registries.enabled=false", "registries.allNamespaces=true"},
			kustomization: without("registries") + "- registries/all-namespaces\n",
		},
		"without network policies": {flags: []string{"networkPolicy.enabled=false"}, kustomization: without("network-policy", "default/source_controller_network_policy.yaml")},
		"for tenants, without marks": {
			flags:         []string{"multitenant.enabled=true", "marks.enabled=false"},
			kustomization: without("marks") + "components: [multitenant]\n",
		},
		"with monitoring": {flags: []string{"monitoring.enabled=true"}, kustomization: optional("monitoring")},
		"with labels for an operator of Prometheus": {
			flags:         []string{"monitoring.enabled=true", "monitoring.labels.release=prometheus"},
			kustomization: optional("monitoring") + patch("PodMonitor|PrometheusRule|ConfigMap", `{op: add, path: /metadata/labels/release, value: prometheus}`),
		},
		"with workload identity": {flags: []string{"workloadIdentity.enabled=true"}, kustomization: optional("workload-identity")},
		"with policies":          {flags: []string{"policies.enabled=true"}, kustomization: optional("policies")},
		"with the bypass policy": {flags: []string{"policies.bypass=true"}, kustomization: optional("policies/bypass")},
		"an image by digest": {
			flags:         []string{"image.repository=registry.example.com/winnow", "image.tag=", "image.digest=" + digest},
			kustomization: plain + "images:\n- name: winnow-controller\n  newName: registry.example.com/winnow\n  digest: " + digest + "\n",
		},
		"an image by tag": {
			flags:         []string{"image.repository=registry.example.com/winnow", "image.tag=v1"},
			kustomization: plain + "images:\n- name: winnow-controller\n  newName: registry.example.com/winnow\n  newTag: v1\n",
		},
		"another node": {
			flags:         []string{"nodeSelector.pool=system"},
			kustomization: plain + patch("Deployment", `{op: add, path: /spec/template/spec/nodeSelector/pool, value: system}`),
		},
		"tolerations": {
			flags:         []string{"tolerations[0].key=control", "tolerations[0].operator=Exists"},
			kustomization: plain + patch("Deployment", `{op: add, path: /spec/template/spec/tolerations, value: [{key: control, operator: Exists}]}`),
		},
		"an affinity": {
			flags:         []string{"affinity.podAffinity.x=z"},
			kustomization: plain + patch("Deployment", `{op: add, path: /spec/template/spec/affinity, value: {podAffinity: {x: z}}}`),
		},
		"without a priority": {
			flags:         []string{"priorityClassName="},
			kustomization: plain + patch("Deployment", `{op: remove, path: /spec/template/spec/priorityClassName}`),
		},
		"labels of the pod": {
			flags:         []string{"podLabels.team=a"},
			kustomization: plain + patch("Deployment", `{op: add, path: /spec/template/metadata/labels/team, value: a}`),
		},
		"annotations of the pod": {
			flags:         []string{"podAnnotations.note=a"},
			kustomization: plain + patch("Deployment", `{op: add, path: /spec/template/metadata/annotations/note, value: a}`),
		},
		"the security context of the pod": {
			flags:         []string{"podSecurityContext.fsGroup=7"},
			kustomization: plain + patch("Deployment", `{op: replace, path: /spec/template/spec/securityContext/fsGroup, value: 7}`),
		},
		"an identity of a cloud": {
			flags:         []string{"serviceAccount.annotations.role=a"},
			kustomization: plain + patch("ServiceAccount", `{op: add, path: /metadata/annotations, value: {role: a}}`),
		},
		"a proxy": {
			flags:         []string{"extraEnv[0].name=HTTPS_PROXY", "extraEnv[0].value=http://proxy"},
			kustomization: plain + patch("Deployment", `{op: add, path: /spec/template/spec/containers/0/env/-, value: {name: HTTPS_PROXY, value: "http://proxy"}}`),
		},
		"a volume": {
			flags:         []string{"extraVolumes[0].name=ca", "extraVolumes[0].configMap.name=ca"},
			kustomization: plain + patch("Deployment", `{op: add, path: /spec/template/spec/volumes/-, value: {name: ca, configMap: {name: ca}}}`),
		},
		"a mount": {
			flags:         []string{"extraVolumeMounts[0].name=ca", "extraVolumeMounts[0].mountPath=/etc/ssl/certs"},
			kustomization: plain + patch("Deployment", `{op: add, path: /spec/template/spec/containers/0/volumeMounts/-, value: {name: ca, mountPath: /etc/ssl/certs}}`),
		},
		"another domain": {
			flags: []string{"clusterDomain=example.org"},
			kustomization: plain + patch("Deployment", `{op: replace, path: /spec/template/spec/containers/0/args/1, value: --storage-adv-addr=winnow-controller.$(RUNTIME_NAMESPACE).svc.example.org.}
    - {op: replace, path: /spec/template/spec/containers/0/args/2, value: --events-addr=http://notification-controller.flux-system.svc.example.org./}`),
		},
		"the settings of the pod": {
			flags: []string{"replicas=2", "resources.limits.memory=2Gi", "imagePullSecrets[0].name=pull", "extraArgs[0]=--concurrent=8", "extraArgs[1]=--log-level=debug"},
			kustomization: "resources:\n- overlays/ha\n" + `patches:
- target: {kind: Deployment}
  patch: |
    - {op: replace, path: /spec/template/spec/containers/0/resources/limits/memory, value: 2Gi}
    - {op: add, path: /spec/template/spec/imagePullSecrets, value: [{name: pull}]}
    - {op: add, path: /spec/template/spec/containers/0/args/-, value: --concurrent=8}
    - {op: add, path: /spec/template/spec/containers/0/args/-, value: --log-level=debug}
`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			namespace := test.namespace
			if namespace == "" {
				namespace = stack.WinnowNamespace
			}
			args := []string{helm, "template", "winnow", filepath.Join(root(t), "charts", "winnow"), "--namespace", namespace}
			for _, flag := range test.flags {
				args = append(args, "--set", flag)
			}
			got := byIdentity(t, command(t, t.TempDir(), nil, args...))
			assertConvention(t, got)
			want := byIdentity(t, build(t, test.kustomization))
			// Helm creates the namespace of a release, or finds it.
			delete(want, "v1 Namespace /winnow-system")
			for id, object := range want {
				if object.GetKind() == "CustomResourceDefinition" {
					annotations := object.GetAnnotations()
					annotations["helm.sh/resource-policy"] = "keep"
					object.SetAnnotations(annotations)
				}
				if !reflect.DeepEqual(got[id], object) {
					t.Errorf("%s is in the chart\n%s, and in config\n%s", id, text(t, got[id]), text(t, object))
				}
			}
			if there, missing := slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)); !slices.Equal(there, missing) {
				t.Errorf("the chart has\n%s\nand config\n%s", strings.Join(there, "\n"), strings.Join(missing, "\n"))
			}
		})
	}
	t.Run("the runbooks of a release are of its version", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "winnow")
		if err := os.CopyFS(dir, os.DirFS(filepath.Join(root(t), "charts", "winnow"))); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, "Chart.yaml")
		content, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(file, bytes.Replace(content, []byte("appVersion: dev"), []byte("appVersion: v1.2.3"), 1), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		got := command(t, t.TempDir(), nil, helm, "template", "winnow", dir, "--set", "monitoring.enabled=true")
		if alerts := strings.Count(got, "runbook_url:"); alerts == 0 || strings.Count(got, "/blob/v1.2.3/docs/symptoms.md#") != alerts {
			t.Errorf("of %d runbooks, some are of another version:\n%s", alerts, got)
		}
	})
	t.Run("the guide has values of the chart", func(t *testing.T) {
		_, block, _ := strings.Cut(guide(t, "air-gap.md"), "```yaml\nimage: ")
		block, _, _ = strings.Cut(block, "```")
		got := command(t, t.TempDir(), nil, helm, "template", "winnow", filepath.Join(root(t), "charts", "winnow"), "--values", valuesFile(t, "image: "+block))
		for _, want := range []string{"registry.internal/", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE", "mountPath: /etc/ssl/winnow"} {
			if !strings.Contains(got, want) {
				t.Errorf("the guide gives no %s: %s", want, got)
			}
		}
	})
	t.Run("a value that is misspelt is refused", func(t *testing.T) {
		for _, flag := range []string{"replica=2", "marks.enable=false", "image.name=x", "replicas=two", "registries.namespaces={A b}"} {
			if out, err := failing(t, helm, "template", "winnow", filepath.Join(root(t), "charts", "winnow"), "--set", flag); err == nil {
				t.Errorf("--set %s renders %s", flag, out)
			}
		}
	})
}

func TestTheChartOnVersionsOfKubernetes(t *testing.T) {
	helm, err := stack.Helm(t.Context(), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	chart := filepath.Join(root(t), "charts", "winnow")
	command(t, t.TempDir(), nil, helm, "lint", "--strict", chart)
	for version, want := range map[string]string{"1.33": "chart requires kubeVersion", "1.34": "", "1.35": "", "1.36": "", "1.37": "", "1.34.1-gke.100": ""} {
		out, err := failing(t, helm, "template", "winnow", chart, "--kube-version", version)
		if (err == nil) != (want == "") || !strings.Contains(out, want) {
			t.Errorf("on %s, it gives %v: %s", version, err, out)
		}
	}
}

// assertConvention checks the labels that each object of a chart has, and removes them.
func assertConvention(t *testing.T, objects map[string]*unstructured.Unstructured) {
	t.Helper()
	for id, object := range objects {
		labels := object.GetLabels()
		for key, want := range map[string]string{
			"helm.sh/chart": "winnow-0.0.0", "app.kubernetes.io/name": "winnow", "app.kubernetes.io/instance": "winnow",
			"app.kubernetes.io/version": "dev", "app.kubernetes.io/managed-by": "Helm",
		} {
			if labels[key] != want {
				t.Errorf("%s has the label %s: %q, want %q", id, key, labels[key], want)
			}
			delete(labels, key)
		}
		if len(labels) == 0 {
			labels = nil
		}
		object.SetLabels(labels)
	}
}

const digest = "sha256:9fd0ca523bbda8903582bb4d64f2209a8be633bb0a59870739218d1ec6ad8ac8"

// build builds a kustomization as if it stood in config.
func build(t *testing.T, kustomization string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(root(t), "config"))); err != nil {
		t.Fatal(err)
	}
	tenant := "namespace: tenant-a\nresources:\n- ../registries/namespace\n" // as kubectl -n tenant-a
	err := errors.Join(
		os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(kustomization), 0o600),
		os.Mkdir(filepath.Join(dir, "tenant-a"), 0o700),
		os.WriteFile(filepath.Join(dir, "tenant-a", "kustomization.yaml"), []byte(tenant), 0o600),
	)
	if err != nil {
		t.Fatal(err)
	}
	options := krusty.MakeDefaultOptions()
	built, err := krusty.MakeKustomizer(options).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		t.Fatal(err)
	}
	manifests, err := built.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	return string(manifests)
}

// byIdentity returns the objects of a stream of documents by kind, namespace and name.
func byIdentity(t *testing.T, manifests string) map[string]*unstructured.Unstructured {
	t.Helper()
	objects := map[string]*unstructured.Unstructured{}
	for _, document := range strings.Split("\n"+manifests, "\n---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
			t.Fatalf("%v in\n%s", err, document)
		}
		if len(object.Object) == 0 {
			continue
		}
		// kustomize knows no scope of this kind and gives it a namespace, which the API server drops.
		if strings.HasPrefix(object.GetKind(), "ValidatingAdmissionPolicy") {
			object.SetNamespace("")
		}
		id := object.GetAPIVersion() + " " + object.GetKind() + " " + object.GetNamespace() + "/" + object.GetName()
		if objects[id] != nil {
			t.Errorf("%s is there twice", id)
		}
		objects[id] = object
	}
	return objects
}

func text(t *testing.T, object *unstructured.Unstructured) string {
	t.Helper()
	if object == nil {
		return "nothing"
	}
	content, err := yaml.Marshal(object.Object)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

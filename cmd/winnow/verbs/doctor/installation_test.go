// SPDX-License-Identifier: Apache-2.0

package doctor_test

import (
	"context"
	"encoding/json"
	"flag"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/test/clitest"
	"github.com/winnow-dev/winnow/test/clitest/livetest"
	"github.com/winnow-dev/winnow/test/stack"
)

var updateDoctor = flag.Bool("update-doctor", false, "write testdata/doctor")

// fluxDeployments is Flux as flux install leaves it, with the gate.
const fluxDeployments = `apiVersion: apps/v1
kind: Deployment
metadata: {name: source-controller, namespace: flux-system, labels: {app.kubernetes.io/part-of: flux}}
spec:
  selector: {matchLabels: {app: source-controller}}
  template:
    metadata: {labels: {app: source-controller}}
    spec:
      containers:
      - name: manager
        image: ghcr.io/fluxcd/source-controller:v1.9.3
        args: [--storage-adv-addr=source-controller.$(RUNTIME_NAMESPACE).svc.cluster.local.]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: helm-controller, namespace: flux-system, labels: {app.kubernetes.io/part-of: flux}}
spec:
  selector: {matchLabels: {app: helm-controller}}
  template:
    metadata: {labels: {app: helm-controller}}
    spec: {containers: [{name: manager, image: "ghcr.io/fluxcd/helm-controller:v1.6.4"}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: kustomize-controller, namespace: flux-system, labels: {app.kubernetes.io/part-of: flux}}
spec:
  selector: {matchLabels: {app: kustomize-controller}}
  template:
    metadata: {labels: {app: kustomize-controller}}
    spec: {containers: [{name: manager, image: "ghcr.io/fluxcd/kustomize-controller:v1.9.5@sha256:9fd0ca523bbda8903582bb4d64f2209a8be633bb0a59870739218d1ec6ad8ac8", args: ["--feature-gates=A=true,ExternalArtifact=true"]}]}
`

// doctored are a selection beside Flux and one of a tenant, with what their sources and instances need.
const doctored = `apiVersion: v1
kind: Namespace
metadata: {name: tenant-a}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: catalog, namespace: flux-system}
spec: {interval: 1h, url: "oci://registry.example.com/catalog", secretRef: {name: login}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: catalog, namespace: tenant-a}
spec: {interval: 1h, url: "oci://registry.example.com/catalog"}
---
apiVersion: catalog.winnow.dev/v1alpha1
kind: CatalogSelection
metadata: {name: apps, namespace: flux-system}
spec: {sources: [{name: catalog}]}
status:
  artifact: {revision: "latest@sha256:01", digest: "sha256:02", path: x, url: "http://winnow-controller.winnow-system.svc.cluster.local./x", lastUpdateTime: "2026-01-01T00:00:00Z"}
  instances: [{name: loki, application: loki, backend: Helm, object: HelmRelease flux-system/loki}]
---
apiVersion: catalog.winnow.dev/v1alpha1
kind: CatalogSelection
metadata: {name: apps, namespace: tenant-a}
spec: {sources: [{name: catalog}]}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec: {interval: 1h, prune: true, sourceRef: {kind: ExternalArtifact, name: apps}}
status: {inventory: {entries: [{id: _loki_apps.kubermatic.k8c.io_ApplicationDefinition, v: v1}]}}
---
` + doctoredDefinition

const doctoredDefinition = `apiVersion: apps.kubermatic.k8c.io/v1
kind: ApplicationDefinition
metadata: {name: loki, labels: {app.kubernetes.io/managed-by: winnow}}
spec: {description: a, method: helm, versions: [{version: 1.0.0, template: {source: {helm: {url: "https://charts.example.com", chartName: a, chartVersion: 1.0.0}}}}]}
`

// cluster has an installation, of which cases break parts.
type cluster struct{ *livetest.Cluster }

// date is that of a bypass, in the output.
var date = regexp.MustCompile(`\d{4}-\d{2}-\d{2}`)

// TestDoctor compares what winnow doctor prints of broken installations with testdata/doctor. Each case mends what it breaks.
func TestDoctor(t *testing.T) {
	started := livetest.Start(t, stack.Options{CRDs: []string{"test/stack/crds"}})
	for name, test := range doctorCases() {
		t.Run(name, func(t *testing.T) {
			c := &cluster{&livetest.Cluster{Stack: started.Stack, T: t}}
			c.install()
			kubeconfig := c.Kubeconfig()
			if test.breaks != nil {
				test.breaks(c)
			}
			if test.as != "" {
				var err error
				if kubeconfig, err = c.ServiceAccountKubeconfig(t.Context(), "tenant-a", test.as); err != nil {
					t.Fatal(err)
				}
			}
			got := clitest.Execute(t.Context(), "doctor", "--kubeconfig", kubeconfig)
			if got.Code != test.code {
				t.Errorf("exit code %d, want %d: %s", got.Code, test.code, got.Stderr)
			}
			file, text := filepath.Join("testdata", "doctor", strings.ReplaceAll(name, " ", "-")+".txt"), date.ReplaceAllString(got.Stdout, "DATE")
			if *updateDoctor {
				clitest.WriteFile(t, file, text)
			}
			if want := clitest.ReadFile(t, file); text != want {
				t.Errorf("got\n%swant\n%s", text, want)
			}
		})
	}
	c := &cluster{started}
	c.install()
	var document struct {
		Findings []struct{ Check, State, Message string }
	}
	if got := c.On("doctor", "-o", "json"); json.Unmarshal([]byte(got.Stdout), &document) != nil || len(document.Findings) != 11 {
		t.Errorf("%+v", got)
	}
}

// install applies a healthy installation over what is there.
func (c *cluster) install() {
	c.T.Helper()
	for document := range strings.SplitSeq(doctored, "\n---\n") {
		var object unstructured.Unstructured
		if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
			c.T.Fatal(err)
		}
		if object.GetKind() != "Namespace" {
			_ = c.Client().Delete(c.T.Context(), &object) // the first time, there is none
		}
	}
	if err := c.ApplyKustomization(c.T.Context(), "config/default"); err != nil {
		c.T.Fatal(err)
	}
	c.ApplyAll(fluxDeployments)
	c.ApplyAll(doctored)
	c.change(&appsv1.Deployment{}, "winnow-system/winnow-controller", `{"spec": {"template": {"spec": {"containers": [{"name": "manager", "image": "ghcr.io/winnow-dev/winnow-controller:v0.1.0"}]}}}}`)
	c.available(1)
}

type doctorCase struct {
	breaks func(*cluster)
	code   int
	as     string // account of tenant-a; empty for the administrator
}

func doctorCases() map[string]doctorCase {
	broken := func(breaks func(*cluster)) doctorCase { return doctorCase{breaks: breaks, code: root.ExitFindings} }
	args := func(name, args string) func(*cluster) {
		return func(c *cluster) {
			c.change(&appsv1.Deployment{}, name, `{"spec": {"template": {"spec": {"containers": [{"name": "manager", "args": [`+args+`]}]}}}}`)
		}
	}
	const storage = `"--storage-adv-addr=winnow-controller.$(RUNTIME_NAMESPACE).svc.cluster.local."`
	return map[string]doctorCase{
		"all is well":                {},
		"the gate is missing":        broken(args("flux-system/kustomize-controller", `"--feature-gates=A=true"`)),
		"another domain":             broken(args("flux-system/source-controller", `"--storage-adv-addr=source-controller.flux-system.svc.example.org."`)),
		"one namespace is watched":   broken(args("winnow-system/winnow-controller", storage+`, "--watch-all-namespaces=false"`)),
		"another address of storage": broken(args("winnow-system/winnow-controller", `"--storage-adv-addr=winnow.apps.svc.cluster.local."`)),
		"no workload identity": broken(func(c *cluster) {
			c.change(livetest.ObjectOf(kinds.OCIRepository, types.NamespacedName{}), "flux-system/catalog", `{"spec": {"provider": "aws", "serviceAccountName": "puller"}}`)
		}),
		"an old Flux": broken(func(c *cluster) {
			c.change(&appsv1.Deployment{}, "flux-system/kustomize-controller", `{"spec": {"template": {"spec": {"containers": [{"name": "manager", "image": "ghcr.io/fluxcd/kustomize-controller:v1.6.1"}]}}}}`)
		}),
		"no controller": broken(func(c *cluster) {
			if err := c.Client().Delete(c.T.Context(), &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "winnow-controller", Namespace: "winnow-system"}}); err != nil {
				c.T.Fatal(err)
			}
		}),
		"no pod is ready": broken(func(c *cluster) { c.available(0) }),
		"an old definition": broken(func(c *cluster) {
			crd := &apiextensionsv1.CustomResourceDefinition{}
			if err := c.Client().Get(c.T.Context(), client.ObjectKey{Name: "catalogselections.catalog.winnow.dev"}, crd); err != nil {
				c.T.Fatal(err)
			}
			status := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"]
			delete(status.Properties, "writtenRecord")
			delete(status.Properties["summary"].Properties, "orphaned")
			if err := c.Client().Update(c.T.Context(), crd); err != nil {
				c.T.Fatal(err)
			}
		}),
		"Secrets of a tenant": broken(func(c *cluster) {
			c.change(livetest.ObjectOf(kinds.OCIRepository, types.NamespacedName{}), "tenant-a/catalog", `{"spec": {"secretRef": {"name": "login"}, "certSecretRef": {"name": "authority"}}}`)
			c.change(livetest.ObjectOf(livetest.SelectionGVK, types.NamespacedName{}), "tenant-a/apps", `{"spec": {"serviceAccountName": "applier"}}`)
		}),
		"no marks": broken(func(c *cluster) {
			binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "winnow-controller-marks"}}
			if err := c.Client().Delete(c.T.Context(), binding); err != nil {
				c.T.Fatal(err)
			}
		}),
		"left behind": broken(func(c *cluster) {
			c.ApplyAll(strings.ReplaceAll(doctoredDefinition, "name: loki, labels: {", `name: loki, labels: {apps.k8c.io/application-bypass: "", `))
			c.ApplyAll(strings.ReplaceAll(doctoredDefinition, "name: loki", "name: old"))
			c.T.Cleanup(func() {
				for _, name := range []string{"loki", "old"} {
					_ = c.Client().Delete(context.WithoutCancel(c.T.Context()), livetest.ObjectOf(definitionGVK(), types.NamespacedName{Name: name}))
				}
			})
		}),
		"an account that may read selections alone": {as: "viewer", code: root.ExitFailed, breaks: func(c *cluster) {
			c.ApplyAll("apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: viewer, namespace: tenant-a}\n---\n" +
				"apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: viewer}\n" +
				"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: winnow-view}\n" +
				"subjects: [{kind: ServiceAccount, name: viewer, namespace: tenant-a}]\n")
		}},
	}
}

func definitionGVK() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: kinds.KKPGroup, Version: "v1", Kind: "ApplicationDefinition"}
}

// change patches an object, NAMESPACE/NAME.
func (c *cluster) change(object client.Object, name, patch string) {
	c.T.Helper()
	namespace, own, _ := strings.Cut(name, "/")
	object.SetNamespace(namespace)
	object.SetName(own)
	kind := types.MergePatchType
	if _, typed := object.(*appsv1.Deployment); typed {
		kind = types.StrategicMergePatchType
	}
	if err := c.Client().Patch(c.T.Context(), object, client.RawPatch(kind, []byte(patch))); err != nil {
		c.T.Fatal(err)
	}
}

// available sets how many pods of the controller are Ready.
func (c *cluster) available(pods int32) {
	c.T.Helper()
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "winnow-controller", Namespace: "winnow-system"}}
	if err := c.Client().Get(c.T.Context(), client.ObjectKeyFromObject(d), d); err != nil {
		c.T.Fatal(err)
	}
	d.Status = appsv1.DeploymentStatus{Replicas: pods, UpdatedReplicas: pods, ReadyReplicas: pods, AvailableReplicas: pods}
	if err := c.Client().Status().Update(c.T.Context(), d); err != nil {
		c.T.Fatal(err)
	}
}

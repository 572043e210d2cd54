// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// operator-controller installs the ClusterExtension of an instance with a bundle that the selection keeps, from the
// image that Winnow pushes, and upgrades it with the catalog. No kubelet runs: Deployments stay without pods.
func TestOLMInstallsWhatIsKept(t *testing.T) {
	startOLM(t).startOperatorController(t)
	if err := system.Apply(t.Context(), []byte(installer)); err != nil {
		t.Fatal(err)
	}
	catalog := func(entries ...string) string {
		return strings.ReplaceAll(packageOf("lemon", entries...), "registry.example.com/lemon", system.RegistryHost()+"/bundles/lemon")
	}
	for _, version := range []string{"1.2.0", "1.2.1"} {
		pushBundle(t, version)
	}
	push := fmt.Sprintf("push: {url: oci://%s/installed-image, insecure: true, type: CatalogImage, catalog: {kind: ClusterCatalog}}", system.RegistryHost())
	instance := "instances: {lemon-installed: {application: lemon, backend: ClusterExtension, namespace: lemon-installed, serviceAccountName: installer}}"
	o := newOperatorsOf(t, "installed", catalog("1.2.0", "2.0.0, replaces: lemon.v1.2.0"), push, instance)
	o.awaitInstalled("lemon.v1.2.0", "1.2.0")

	o.offer("v2", catalog("1.2.0", "1.2.1, replaces: lemon.v1.2.0", "2.0.0, replaces: lemon.v1.2.1"))
	o.point("v2")
	o.awaitInstalled("lemon.v1.2.1", "1.2.1")
}

// installer is the namespace of what is installed, with the ServiceAccount that may install it.
const installer = `---
apiVersion: v1
kind: Namespace
metadata: {name: lemon-installed}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: installer, namespace: lemon-installed}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: lemon-installer}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: installer, namespace: lemon-installed}]
`

// startOperatorController starts operator-controller until the end of a test, which it ends without ClusterExtensions:
// they have a finalizer of it.
func (o olm) startOperatorController(t *testing.T) {
	t.Helper()
	process, err := system.StartOperatorController(t.Context(), o.catalogd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(deleteExtensions(context.WithoutCancel(t.Context())), process.Stop()); err != nil {
			t.Error(err)
		}
	})
}

// deleteExtensions deletes all ClusterExtensions, and waits until they are gone.
func deleteExtensions(ctx context.Context) error {
	extension := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension"}}
	if err := system.Client().DeleteAllOf(ctx, extension); err != nil {
		return err
	}
	return wait.PollUntilContextTimeout(ctx, pulse, patience, true, func(ctx context.Context) (bool, error) {
		list := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtensionList"}}
		err := system.Client().List(ctx, list)
		return len(list.Items) == 0, err
	})
}

// pushBundle pushes the bundle of a version of lemon, which is one Deployment.
func pushBundle(t *testing.T, version string) {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "metadata/annotations.yaml"), `annotations:
  operators.operatorframework.io.bundle.mediatype.v1: registry+v1
  operators.operatorframework.io.bundle.manifests.v1: manifests/
  operators.operatorframework.io.bundle.metadata.v1: metadata/
  operators.operatorframework.io.bundle.package.v1: lemon
  operators.operatorframework.io.bundle.channels.v1: stable
`)
	write(t, filepath.Join(dir, "manifests/lemon.clusterserviceversion.yaml"), strings.ReplaceAll(`apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: lemon.vVERSION, namespace: placeholder}
spec:
  displayName: Lemon
  version: VERSION
  installModes:
  - {type: AllNamespaces, supported: true}
  install:
    strategy: deployment
    spec:
      deployments:
      - name: lemon
        spec:
          selector: {matchLabels: {app: lemon}}
          template:
            metadata: {labels: {app: lemon}}
            spec: {containers: [{name: lemon, image: "registry.example.com/lemon:VERSION"}]}
`, "VERSION", version))
	if _, err := system.PushBundleImage(t.Context(), "bundles/lemon:"+version, dir); err != nil {
		t.Fatal(err)
	}
}

// awaitInstalled waits until OLM reports a bundle as installed, and its Deployment has the image of a version.
func (o *operators) awaitInstalled(bundle, version string) {
	o.t.Helper()
	o.await("installed "+bundle, func(ctx context.Context) error {
		var extension struct {
			Metadata struct{ Generation int64 }
			Status   struct {
				Conditions []metav1.Condition
				Install    struct{ Bundle struct{ Name string } }
			}
		}
		live := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension"}}
		if err := system.Client().Get(ctx, client.ObjectKey{Name: "lemon-installed"}, live); err != nil {
			return err
		}
		content, err := live.MarshalJSON()
		if err := errors.Join(err, json.Unmarshal(content, &extension)); err != nil {
			return err
		}
		installed := meta.FindStatusCondition(extension.Status.Conditions, "Installed")
		if installed == nil || installed.Status != metav1.ConditionTrue || extension.Status.Install.Bundle.Name != bundle {
			return fmt.Errorf("the ClusterExtension has %+v", extension.Status)
		}
		deployment := &appsv1.Deployment{}
		if err := system.Client().Get(ctx, client.ObjectKey{Namespace: "lemon-installed", Name: "lemon"}, deployment); err != nil {
			return err
		}
		if image := deployment.Spec.Template.Spec.Containers[0].Image; image != "registry.example.com/lemon:"+version {
			return fmt.Errorf("the Deployment has the image %s", image)
		}
		return nil
	})
}

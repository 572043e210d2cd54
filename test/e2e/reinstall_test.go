// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/test/stack"
)

const reinstallGuidePage = "reinstall.md"

// way is how Winnow is installed, and where.
type way struct {
	helm      string // a directory with the command; with manifests if empty
	namespace string
	lacks     string // a flag of the page that this version of Helm does not know
}

func (w way) in(namespace string) way {
	w.namespace = namespace
	return w
}

// The selection has deletionPolicy: Delete, and the Kustomization prunes: an object that is lost anywhere is deleted.
// Each way starts from the one before it.
func TestReinstallGuide(t *testing.T) {
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Skipf("the guide needs kubectl: %v", err)
	}
	useOwnSystem(t)
	m := newReinstallation(t)
	helm3 := way{helm: m.helm(stack.Helm3), lacks: " --server-side=false"}
	helm4 := way{helm: m.helm(stack.Helm)}
	for _, test := range []struct {
		name string
		to   way
	}{
		{"from manifests to Helm 3, beside Flux", helm3.in(stack.FluxNamespace)},
		{"from Helm 3 to Helm 4, away from Flux", helm4.in(stack.WinnowNamespace)},
		{"from Helm 4 to manifests", way{}.in(stack.WinnowNamespace)},
		{"from manifests to Helm 4", helm4.in(stack.WinnowNamespace)},
		{"with Helm 4, beside Flux", helm4.in(stack.FluxNamespace)},
	} {
		if !t.Run(test.name, func(t *testing.T) { m.move(t, test.to) }) {
			return
		}
	}
}

// reinstallation is an admin who follows the guide in a directory with the manifests.
type reinstallation struct {
	t      *testing.T
	dir    string
	s      *scenario
	now    way
	before []any // what every way must keep
}

func newReinstallation(t *testing.T) *reinstallation {
	t.Helper()
	m := &reinstallation{t: t, dir: t.TempDir(), s: newScenario(t, "reinstall", catalogOf("reinstall"), nil)}
	m.s.awaitApplied("reinstall-a", "reinstall-b", "reinstall-c")
	m.now = way{namespace: stack.WinnowNamespace}
	m.install(t, m.now)
	m.before = m.kept(t)
	return m
}

// helm returns a directory in which the command has the name that the page calls.
func (m *reinstallation) helm(build func(context.Context, io.Writer) (string, error)) string {
	m.t.Helper()
	path, err := build(m.t.Context(), m.t.Output())
	dir := m.t.TempDir()
	if err = errors.Join(err, os.Symlink(path, filepath.Join(dir, "helm"))); err != nil {
		m.t.Fatal(err)
	}
	return dir
}

// move follows the guide. The old controller runs until the new one starts: without rights it does no harm.
func (m *reinstallation) move(t *testing.T, to way) {
	m.s.t = t
	defer func() { m.s.t = m.t }()
	from := m.now
	remove := "kubectl -n winnow-system delete"
	if from.helm != "" {
		remove = "helm uninstall"
	}
	m.mustRun(t, from, strings.ReplaceAll(guideBlock(t, reinstallGuidePage, remove), stack.WinnowNamespace, from.namespace))
	m.install(t, to)
	if err := system.restart(t.Context(), stack.ControllerOptions{Namespace: to.namespace, StorageAddr: unusedAddress(t)}); err != nil {
		t.Fatal(err)
	}
	m.download(t)
	if after := m.kept(t); !reflect.DeepEqual(after, m.before) {
		t.Errorf("it has kept\n%v\nof\n%v", after, m.before)
	}
	m.checkObjects(t, to)
	m.now = to
}

// install follows the guide. From manifests, it also upgrades to a chart with another definition: kubectl owns this one.
func (m *reinstallation) install(t *testing.T, to way) {
	t.Helper()
	if to.helm == "" {
		dir := map[string]string{stack.WinnowNamespace: "default", stack.FluxNamespace: "overlays/flux-system"}[to.namespace]
		m.mustRun(t, to, "kubectl kustomize '"+filepath.Join(system.root, "config", dir)+"' > install.yaml")
		m.mustRun(t, to, guideBlock(t, "install.md", "kubectl apply -f install.yaml"))
		return
	}
	install := m.chart(t, reinstallGuidePage, "helm install", filepath.Join(system.root, "charts/winnow"))
	install = strings.Replace(install, "--namespace "+stack.FluxNamespace, "--namespace "+to.namespace, 1)
	install = strings.Replace(install, to.lacks, "", 1)
	if out, err := m.run(t, to, strings.Replace(install, "--take-ownership", "", 1)); err == nil || !strings.Contains(out, "invalid ownership metadata") {
		t.Errorf("without --take-ownership: %v\n%s", err, out)
	}
	m.mustRun(t, to, install)
	if m.now.helm != "" {
		return
	}
	upgrade := m.chart(t, "upgrade.md", "--reset-then-reuse-values\n", m.newerChart(t))
	m.mustRun(t, to, strings.Replace(upgrade, "--namespace "+stack.WinnowNamespace, "--namespace "+to.namespace, 1))
}

// chart returns a block with a chart of this repository in place of a published one.
func (m *reinstallation) chart(t *testing.T, page, with, chart string) string {
	t.Helper()
	const published = "oci://ghcr.io/winnow-dev/charts/winnow --version X.Y.Z"
	block := guideBlock(t, page, with)
	if strings.Count(block, published) != 1 {
		t.Fatalf("%s has no %q once", block, published)
	}
	return strings.Replace(block, published, "'"+chart+"'", 1)
}

// newerChart copies the chart, and adds a field to the definition.
func (m *reinstallation) newerChart(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(system.root, "charts/winnow"))); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "templates/crd.yaml")
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const field = "\n              suspend:\n"
	newer := bytes.Replace(content, []byte(field), []byte("\n              ofTheNewerVersion: {type: string}"+field), 1)
	if bytes.Equal(newer, content) {
		t.Fatalf("%s has no %q", file, field)
	}
	write(t, file, string(newer))
	return dir
}

// kept returns what identifies the objects, and what their controllers have recorded: it must not change.
func (m *reinstallation) kept(t *testing.T) []any {
	t.Helper()
	definitions := resourceVersions(m.s.awaitApplied("reinstall-a", "reinstall-b", "reinstall-c"))
	cs, ea, ks, err := m.s.live(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := system.Client().Get(t.Context(), client.ObjectKey{Name: "catalogselections.catalog.winnow.dev"}, crd); err != nil {
		t.Fatal(err)
	}
	return []any{
		definitions, crd.UID, cs.UID, cs.Generation, cs.Status.Artifact.Revision, cs.Status.WrittenRecord, cs.Status.Applications,
		ea.UID, ea.OwnerReferences, ea.Finalizers, ea.Status.Artifact.Digest, ks.UID, ks.Status.Inventory,
	}
}

// download waits until the new controller serves the artifact, and Flux has downloaded it from there.
func (m *reinstallation) download(t *testing.T) {
	t.Helper()
	m.s.await("the artifact has the new address", func(ctx context.Context) error {
		cs, ea, _, err := m.s.live(ctx)
		if err != nil || !conditions.IsReady(cs) || !strings.HasPrefix(ea.Status.Artifact.URL, "http://"+system.controller.StorageAddr+"/") {
			return fmt.Errorf("the conditions are %+v, the artifact %+v: %w", cs.Status.Conditions, ea.Status.Artifact, err)
		}
		return nil
	})
	ks, request := &kustomizev1.Kustomization{ObjectMeta: m.s.metaOf(m.s.name)}, t.Name()
	m.s.update(ks, func() { ks.Annotations = map[string]string{meta.ReconcileRequestAnnotation: request} })
	m.s.await("Flux has downloaded it", func(ctx context.Context) error {
		err := system.Client().Get(ctx, keyOf(ks), ks)
		if err != nil || ks.Status.LastHandledReconcileAt != request || !conditions.IsReady(ks) {
			return fmt.Errorf("the status is %+v: %w", ks.Status, err)
		}
		return nil
	})
}

// checkObjects checks that nothing is left of another way.
func (m *reinstallation) checkObjects(t *testing.T, to way) {
	t.Helper()
	for kind, version := range map[string]string{
		"Deployment": "apps/v1", "Service": "v1", "ServiceAccount": "v1", "ResourceQuota": "v1",
		"PodDisruptionBudget": "policy/v1", "NetworkPolicy": "networking.k8s.io/v1",
		"Role": "rbac.authorization.k8s.io/v1", "RoleBinding": "rbac.authorization.k8s.io/v1",
		"ClusterRole": "rbac.authorization.k8s.io/v1", "ClusterRoleBinding": "rbac.authorization.k8s.io/v1",
	} {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(schema.FromAPIVersionAndKind(version, kind+"List"))
		if err := system.Client().List(t.Context(), list, client.MatchingLabels{"app.kubernetes.io/part-of": "winnow"}); err != nil {
			t.Fatal(err)
		}
		if len(list.Items) == 0 && kind != "ResourceQuota" {
			t.Errorf("there is no %s", kind)
		}
		for _, object := range list.Items {
			// Winnow's rights there, and Flux's policy for Winnow.
			inFlux := object.Name == "winnow-controller-registries" || object.Name == "allow-winnow" && to.namespace != stack.FluxNamespace
			if n := object.Namespace; n != "" && n != to.namespace && (n != stack.FluxNamespace || !inFlux) {
				t.Errorf("%s %s/%s is left", kind, n, object.Name)
			}
			if of := object.Annotations["meta.helm.sh/release-namespace"]; to.helm != "" && of != to.namespace {
				t.Errorf("%s %s/%s is of the release in the namespace %q", kind, object.Namespace, object.Name, of)
			}
		}
	}
}

// mustRun runs a script, and fails the test if that fails.
func (m *reinstallation) mustRun(t *testing.T, w way, script string) {
	t.Helper()
	if out, err := m.run(t, w, script); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

func (m *reinstallation) run(t *testing.T, w way, script string) (string, error) {
	t.Helper()
	return shell(t, m.dir, script, "PATH="+w.helm+":"+os.Getenv("PATH"), "HOME="+m.dir)
}

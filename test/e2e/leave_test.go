// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/runtime/conditions"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/stack"
)

// leaving is the admin of a KKP master cluster who follows docs/guides/leave-the-default-catalog.md.
type leaving struct {
	*scenario
	dir string // in which the commands run
}

// The steps depend on their order. The cluster is one of its own, because the guide is about all
// definitions of a cluster.
func TestLeavingTheDefaultCatalog(t *testing.T) {
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Skipf("the guide needs kubectl: %v", err)
	}
	useOwnSystem(t)
	l := newLeaving(t)
	l.createLive()
	before := l.all()
	if looked := l.run(l.t.Context(), "kkp-definitions.yaml"); strings.Count(looked, "\n") != 1+len(before) {
		t.Errorf("the guide lists\n%s", looked)
	}
	l.selectTooEarly()
	l.stopKKP()
	l.importLive()
	l.publish()
	l.assertLeft(before)
	l.markUnmanaged()
	l.dropVersion()
	l.goBack()
}

func newLeaving(t *testing.T) *leaving {
	t.Helper()
	key := metav1.ObjectMeta{Name: "applications", Namespace: stack.FluxNamespace}
	l := &leaving{&scenario{t: t, name: "kkp", selection: &v1alpha1.CatalogSelection{ObjectMeta: key}}, t.TempDir()}
	// The registry here has no TLS, unlike that of the guide.
	shim := filepath.Join(l.dir, "bin", "winnow")
	write(t, shim, "#!/bin/sh\ncase $1 in push) set -- \"$@\" --plain-http ;; esac\nexec "+system.winnow+" \"$@\"\n")
	if err := os.Chmod(shim, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(l.dir, "applications.yaml"), l.manifests())
	return l
}

// manifests returns applications.yaml of the guide, for a registry without TLS.
func (l *leaving) manifests() string {
	l.t.Helper()
	return strings.Replace(l.block("# applications.yaml\n"), "  url: oci://", "  insecure: true\n  url: oci://", 1)
}

// block returns the block of the guide with a text, for the registry of the tests.
func (l *leaving) block(with string) string {
	l.t.Helper()
	return strings.ReplaceAll(guideBlock(l.t, "leave-the-default-catalog.md", with), "registry.example.com", system.RegistryHost())
}

// run runs the block of the guide with a text, and returns what it prints.
func (l *leaving) run(ctx context.Context, with string) string {
	l.t.Helper()
	command := exec.CommandContext(ctx, "sh", "-eu", "-c", l.block(with))
	command.Dir = l.dir
	command.Env = []string{
		"PATH=" + filepath.Join(l.dir, "bin") + ":" + os.Getenv("PATH"), "HOME=" + l.dir, "KUBECONFIG=" + system.Kubeconfig(),
	}
	out, err := command.CombinedOutput()
	if err != nil {
		l.t.Fatalf("%s: %v\n%s", l.block(with), err, out)
	}
	return string(out)
}

// selectTooEarly selects from a catalog that was not made of the live definitions, while the manager's labels
// are there.
func (l *leaving) selectTooEarly() {
	l.t.Helper()
	dir := l.t.TempDir()
	for _, a := range []app{
		{name: "argocd", versions: []string{"2.14.9"}}, {name: "cert-manager", versions: []string{"1.18.2"}},
		{name: "falco", versions: []string{"0.39.0"}}, {name: "cilium", versions: []string{"1.18.1"}},
	} {
		a.tier = "gold"
		writeApp(l.t, filepath.Join(dir, "applications", a.name), a)
	}
	if _, err := system.PushCatalog(l.t.Context(), dir, "catalogs/kkp:v0.9.0", stack.PushOptions{}); err != nil {
		l.t.Fatal(err)
	}
	before := l.all()
	manifests := strings.Replace(l.manifests(), "tag: v1.0.0", "tag: v0.9.0", 1)
	if err := system.Apply(l.t.Context(), []byte(manifests)); err != nil {
		l.t.Fatal(err)
	}
	l.awaitHeldFor(
		"argocd: lives in the cluster, where the platform itself reconciles it",
		"cert-manager: lives in the cluster, where the platform itself reconciles it",
		"cilium: lives in the cluster, where the platform itself reconciles it")
	l.assertSame(before)
}

// stopKKP does what KKP does when its manager is switched off, for one definition, and the rest as the guide.
// The holds end with the labels.
func (l *leaving) stopKKP() {
	l.t.Helper()
	var configuration map[string]any
	if err := yaml.UnmarshalStrict([]byte(l.block("kind: KubermaticConfiguration")), &configuration); err != nil {
		l.t.Fatal(err)
	}
	for _, key := range []string{managerLabel, catalogNameLabel} {
		l.label(l.t.Context(), "cert-manager", key, nil)
	}
	for range 2 { // nothing is left for the second time
		l.run(l.t.Context(), "kubectl label applicationdefinitions -l")
	}
	l.awaitHeldFor("argocd: lives in the cluster with versions that would be removed: 2.13.2",
		"cilium: lives in the cluster, where the platform itself reconciles it")
}

// awaitHeldFor waits until nothing is published because of exactly these adoptions, each "application: message".
// A definition that is bypassed is not among them.
func (l *leaving) awaitHeldFor(want ...string) {
	l.t.Helper()
	l.awaitSelection("held for "+strings.Join(want, ", "), func(cs *v1alpha1.CatalogSelection) error {
		if cs.Status.Held == nil || cs.Status.Artifact != nil || !conditions.IsTrue(cs, v1alpha1.HeldCondition) {
			return fmt.Errorf("held is %+v", cs.Status.Held)
		}
		var got []string
		for _, r := range cs.Status.Held.Reasons {
			message, _, _ := strings.Cut(r.Message, ";")
			got = append(got, r.Application+": "+message)
			if r.Reason != v1alpha1.AdoptionReason {
				return fmt.Errorf("the reason is %+v", r)
			}
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			return fmt.Errorf("held for %q", got)
		}
		return nil
	})
}

// importLive makes the catalog of the guide, which has everything but the system application.
func (l *leaving) importLive() {
	l.t.Helper()
	if out := l.run(l.t.Context(), "winnow import"); strings.Contains(out, "kkp/managed-by") {
		l.t.Errorf("the catalog has labels of KKP:\n%s", out)
	}
	entries, err := os.ReadDir(filepath.Join(l.dir, "catalog/applications"))
	if err != nil {
		l.t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	if want := []string{"argocd", "cert-manager", "falco", "metallb", "ours"}; !slices.Equal(names, want) {
		l.t.Errorf("the catalog has %v, want %v", names, want)
	}
}

// publish pushes the catalog and applies the files of the guide.
func (l *leaving) publish() {
	l.t.Helper()
	preview := l.run(l.t.Context(), "--live")
	if strings.Contains(preview, "HELD") || !strings.Contains(preview, "bypassed in the cluster: falco") || strings.Contains(preview, "removed") {
		l.t.Errorf("the preview is\n%s", preview)
	}
	l.run(l.t.Context(), "winnow push")
	l.reconcileSource("v1.0.0")
	if listed := l.run(l.t.Context(), "kubectl apply"); strings.Contains(listed, "cilium") {
		l.t.Errorf("the guide lists\n%s", listed)
	}
	l.awaitAll("argocd", "cert-manager", "falco", "metallb", "ours")
}

// reconcileSource lets source-controller pull a tag. The tag may have moved.
func (l *leaving) reconcileSource(tag string) {
	l.t.Helper()
	repository := l.repository()
	repository.Name, repository.Namespace = "kkp-catalog", stack.FluxNamespace
	l.update(repository, func() {
		repository.Spec.Reference.Tag = tag
		repository.Annotations = map[string]string{"reconcile.fluxcd.io/requestedAt": tag + " again"}
	})
}

// awaitAll waits until exactly these definitions are published and applied.
func (l *leaving) awaitAll(names ...string) {
	l.t.Helper()
	l.awaitSelection(fmt.Sprint("applied ", names), func(cs *v1alpha1.CatalogSelection) error {
		var selected []string
		for _, a := range cs.Status.Applications {
			selected = append(selected, a.Name)
		}
		if !slices.Equal(selected, names) || !conditions.IsTrue(cs, v1alpha1.AppliedCondition) || !conditions.IsFalse(cs, v1alpha1.HeldCondition) {
			return fmt.Errorf("selected are %v", selected)
		}
		return nil
	})
}

// markUnmanaged checks the commands about labels.
func (l *leaving) markUnmanaged() {
	l.t.Helper()
	l.run(l.t.Context(), "--overwrite")
	byHand := definitionOf("by-hand")
	byHand.Object["spec"] = liveSpec("by-hand", []string{"1.0.0"})
	l.create(byHand)
	l.await("by-hand is labelled as unmanaged", func(ctx context.Context) error {
		if out := l.run(ctx, "catalog.winnow.dev/unmanaged\n"); strings.Count(out, "\n") != 2 || !strings.Contains(out, "by-hand") {
			return errors.New(out)
		}
		return nil
	})
}

// dropVersion removes a version from the catalog, as a pull request of the time after.
func (l *leaving) dropVersion() {
	l.t.Helper()
	file := filepath.Join(l.dir, "catalog/applications/argocd/application.yaml")
	content, err := os.ReadFile(file)
	if err != nil {
		l.t.Fatal(err)
	}
	write(l.t, file, strings.ReplaceAll(string(content), "2.13.2", "2.15.0"))
	if _, err := system.PushCatalog(l.t.Context(), filepath.Join(l.dir, "catalog"), "catalogs/kkp:v1.1.0", stack.PushOptions{}); err != nil {
		l.t.Fatal(err)
	}
	l.reconcileSource("v1.1.0")
	l.awaitSelection("held", func(cs *v1alpha1.CatalogSelection) error {
		held := cs.Status.Held
		if held == nil || len(held.Reasons) != 1 || held.Reasons[0].Reason != v1alpha1.VersionRemovalReason || held.Reasons[0].Application != "argocd" {
			return fmt.Errorf("held is %+v", held)
		}
		return nil
	})
}

// goBack removes Winnow's objects. The definitions stay.
func (l *leaving) goBack() {
	l.t.Helper()
	before := l.all()
	l.run(l.t.Context(), "delete kustomization")
	l.awaitGone(l.t.Context(), &kustomizev1.Kustomization{ObjectMeta: l.selection.ObjectMeta})
	l.awaitGone(l.t.Context(), l.selection)
	after := l.all()
	for name, was := range before {
		if now := after[name]; now == nil || now.GetUID() != was.GetUID() || now.GetDeletionTimestamp() != nil {
			l.t.Errorf("%s is %v", name, now)
		}
	}
}

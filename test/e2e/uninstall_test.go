// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

const uninstallGuidePage = "uninstall.md"

// The selection has deletionPolicy: Delete, and the Kustomization prunes: any other order deletes the definitions. The
// steps depend on their order. Removing the controller is left out, because other tests need it.
func TestUninstallGuide(t *testing.T) {
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Skipf("the guide needs kubectl: %v", err)
	}
	s := newScenario(t, "uninstall", catalogOf("uninstall"), nil)
	s.await("applied", func(ctx context.Context) error {
		cs, _, ks, err := s.live(ctx)
		if err != nil || !conditions.IsTrue(cs, v1alpha1.AppliedCondition) || !conditions.IsReady(ks) {
			return fmt.Errorf("not yet: %w", err)
		}
		return nil
	})
	before := s.get(t.Context(), definitionOf("uninstall-a"))

	s.contains(s.follow("sourceRef.kind=="), "uninstall uninstall of uninstall, prune: true, deletionPolicy: \n")
	s.contains(s.follow(`{"deletionPolicy": "Orphan"}`), "Orphan")
	s.contains(s.follow("delete kustomization applications"), "uninstall-a", "uninstall-b", "uninstall-c")
	s.contains(s.follow("--timeout=2m"), `"uninstall" deleted`)
	s.labelUnmanaged("uninstall-b")
	s.follow("catalog.winnow.dev/bypass-mark-")

	ea := &sourcev1.ExternalArtifact{}
	if err := system.Client().Get(t.Context(), client.ObjectKeyFromObject(s.selection), ea); !apierrors.IsNotFound(err) {
		t.Errorf("the ExternalArtifact is still there: %v", err)
	}
	after := s.get(t.Context(), definitionOf("uninstall-a"))
	if after.GetUID() != before.GetUID() || after.GetDeletionTimestamp() != nil {
		t.Errorf("the definition was deleted: %v", errors.New(after.GetName()))
	}
	for _, name := range []string{"uninstall-a", "uninstall-b"} {
		object := s.get(t.Context(), definitionOf(name))
		for key := range object.GetLabels() {
			if strings.HasPrefix(key, "catalog.winnow.dev/") {
				t.Errorf("%s still has the label %s", name, key)
			}
		}
		for key := range object.GetAnnotations() {
			if strings.HasPrefix(key, "kustomize.toolkit.fluxcd.io/") {
				t.Errorf("%s still has the annotation %s", name, key)
			}
		}
	}
}

// labelUnmanaged leaves on a definition what unmanaged: Label leaves on it: this label, and the annotations.
func (s *scenario) labelUnmanaged(name string) {
	s.t.Helper()
	object := s.get(s.t.Context(), definitionOf(name))
	before := object.DeepCopy()
	labels := object.GetLabels()
	for _, key := range []string{v1alpha1.NameLabel, v1alpha1.NamespaceLabel, v1alpha1.ManagedByLabel} {
		delete(labels, key)
	}
	labels[v1alpha1.UnmanagedLabel] = "true"
	object.SetLabels(labels)
	if err := system.Client().Patch(s.t.Context(), object, client.MergeFrom(before)); err != nil {
		s.t.Fatal(err)
	}
}

// follow runs the block of the guide with a text for the selection of the scenario, and returns what it prints.
func (s *scenario) follow(with string) string {
	s.t.Helper()
	script := strings.NewReplacer(
		"-n flux-system", "-n "+s.name, " applications ", " "+s.name+" ", " applications\n", " "+s.name+"\n", "/applications ", "/"+s.name+" ", "name=applications", "name="+s.name, "namespace=flux-system", "namespace="+s.name,
	).Replace(guideBlock(s.t, uninstallGuidePage, with))
	out, err := shell(s.t, "", script)
	if err != nil {
		s.t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return out
}

// shell runs a script of a page in a directory, with more variables, and returns what it prints.
func shell(t *testing.T, dir, script string, env ...string) (string, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "sh", "-euc", script)
	command.Dir = dir
	command.Env = append(append(os.Environ(), "KUBECONFIG="+system.Kubeconfig()), env...)
	out, err := command.CombinedOutput()
	return string(out), err
}

func (s *scenario) contains(output string, texts ...string) {
	s.t.Helper()
	for _, text := range texts {
		if !strings.Contains(output, text) {
			s.t.Fatalf("no %q in\n%s", text, output)
		}
	}
}

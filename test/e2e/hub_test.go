// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/stack"
)

const fleetNamespace = "fleet"

// newFleet starts the registry and the spokes, and copies the example as the guide does, with the addresses of the
// registries: one without a password for the catalog, and one with a password for pushed artifacts.
func newFleet(t *testing.T) *fleet {
	t.Helper()
	work := t.TempDir()
	f := &fleet{scenario: &scenario{t: t}, work: work, dir: filepath.Join(work, "fleet"), catalog: filepath.Join(work, "catalog")}
	f.selection = f.named("datacenter")
	f.startRegistry()
	f.prepareWalk()
	f.step("The repository")
	f.startSpokes()
	if err := system.ApplyPath(t.Context(), filepath.Join(f.dir, "hub/namespace.yaml")); err != nil {
		t.Fatal(err)
	}
	f.provide(system.Stack, "registry-push", fleetNamespace)
	t.Cleanup(func() {
		in := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name, Namespace: fleetNamespace} }
		f.remove(f.named("datacenter"), f.named("edge"),
			&sourcev1.OCIRepository{ObjectMeta: in("winnow-example")},
			&rbacv1.RoleBinding{ObjectMeta: in("winnow-push")}, &rbacv1.Role{ObjectMeta: in("winnow-push")},
			&corev1.Secret{ObjectMeta: in("registry-push")}, &corev1.Secret{ObjectMeta: in("registry-ca")})
	})
	return f
}

func (f *fleet) named(name string) *v1alpha1.CatalogSelection {
	return &v1alpha1.CatalogSelection{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: fleetNamespace}}
}

const fleetUser, fleetPassword = "robot", "correct horse"

func (f *fleet) startRegistry() {
	f.t.Helper()
	const name = "fleet-registry"
	var err error
	if f.registry, err = system.StartSecureRegistry(f.t.Context(), name, fleetUser, fleetPassword); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() {
		if err := errors.Join(f.registry.Stop(), os.RemoveAll(filepath.Join(system.Dir(), name))); err != nil {
			f.t.Error(err)
		}
	})
}

// address replaces the addresses of the registries in the example.
func (f *fleet) address() {
	f.t.Helper()
	catalogs := regexp.MustCompile(`(?m)^( +)url: oci://registry\.example\.com/catalogs/`)
	rendered := regexp.MustCompile(`(?m)^( +)url: oci://registry\.example\.com/rendered/`)
	for _, file := range filesIn(f.t, os.DirFS(f.dir)) {
		if filepath.Ext(file) != ".yaml" {
			continue
		}
		content := f.read(file)
		content = catalogs.ReplaceAllString(content, "${1}insecure: true\n${1}url: oci://"+system.RegistryHost()+"/catalogs/")
		content = rendered.ReplaceAllString(content,
			"${1}certSecretRef:\n${1}  name: registry-ca\n${1}url: oci://"+f.registry.Host+"/rendered/")
		if strings.Contains(content, "registry.example.com") {
			f.t.Fatalf("%s still names the example's registry:\n%s", file, content)
		}
		write(f.t, filepath.Join(f.dir, file), content)
	}
}

func (f *fleet) read(file string) string {
	f.t.Helper()
	content, err := os.ReadFile(filepath.Join(f.dir, file))
	if err != nil {
		f.t.Fatal(err)
	}
	return string(content)
}

// replace edits a file as a pull request does.
func (f *fleet) replace(file, old, text string) {
	f.t.Helper()
	content := f.read(file)
	if strings.Count(content, old) != 1 {
		f.t.Fatalf("%s has not one %q:\n%s", file, old, content)
	}
	write(f.t, filepath.Join(f.dir, file), strings.Replace(content, old, text, 1))
}

// pin replaces the digest of a stage by the one that cs has pushed.
func (f *fleet) pin(s *spoke, old string, cs *v1alpha1.CatalogSelection) {
	f.t.Helper()
	_, digest, _ := strings.Cut(cs.Status.Push.URL, "@")
	f.replace(s.directory+"/applications.yaml", "digest: sha256:"+strings.TrimPrefix(old, "sha256:"), "digest: "+digest)
}

// release pushes the catalog with one application edited, or removed if old is empty, points the hub to
// it, and returns its revision. If application is empty, it does not edit the catalog.
func (f *fleet) release(tag, application, old, text string) string {
	f.t.Helper()
	f.catalog = catalogCopy(f.t, f.catalog, false)
	dir := filepath.Join(f.catalog, "applications", application)
	switch file := filepath.Join(dir, "application.yaml"); {
	case application == "":
	case old == "":
		if err := os.RemoveAll(dir); err != nil {
			f.t.Fatal(err)
		}
	default:
		content, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(content), old) {
			f.t.Fatalf("%s has no %q: %v", file, old, err)
		}
		write(f.t, file, strings.ReplaceAll(string(content), old, text))
	}
	digest, err := system.PushCatalog(f.t.Context(), f.catalog, "catalogs/winnow-example:"+tag, stack.PushOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	line := regexp.MustCompile(`tag: v\S+`).FindString(f.read("hub/catalog.yaml"))
	f.replace("hub/catalog.yaml", line, "tag: "+tag)
	f.deployHub()
	return tag + "@" + digest.String()
}

func (f *fleet) deployHub() {
	f.t.Helper()
	if err := system.ApplyKustomization(f.t.Context(), filepath.Join(f.dir, "hub")); err != nil {
		f.t.Fatal(err)
	}
}

// selected returns a selection of the hub.
func (f *fleet) selected(name string) *v1alpha1.CatalogSelection {
	f.t.Helper()
	cs := f.named(name)
	if err := system.Client().Get(f.t.Context(), client.ObjectKeyFromObject(cs), cs); err != nil {
		f.t.Fatal(err)
	}
	return cs
}

// awaitSource waits until a selection has rendered a revision of the catalog.
func (f *fleet) awaitSource(name, origin string) *v1alpha1.CatalogSelection {
	f.t.Helper()
	of := &scenario{t: f.t, selection: f.named(name)}
	return of.awaitSelection(name+" at "+origin, func(cs *v1alpha1.CatalogSelection) error {
		if len(cs.Status.Sources) != 1 || cs.Status.Sources[0].Revision != origin || !conditions.IsReady(cs) {
			return fmt.Errorf("sources are %+v", cs.Status.Sources)
		}
		return nil
	})
}

// awaitPushed waits until the render of a catalog revision by a selection is in the registry, and no edit
// is pending.
func (f *fleet) awaitPushed(name, origin string) *v1alpha1.CatalogSelection {
	f.t.Helper()
	of := &scenario{t: f.t, selection: f.named(name)}
	return of.awaitSelection(name+" pushed from "+origin, func(cs *v1alpha1.CatalogSelection) error {
		push := cs.Status.Push
		if !conditions.IsReady(cs) || push == nil || push.Sources != origin || push.Revision != cs.Status.Artifact.Revision ||
			!conditions.IsTrue(cs, v1alpha1.PushedCondition) {
			return fmt.Errorf("pushed %+v", push)
		}
		return nil
	})
}

// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"path/filepath"
	"testing"
)

// TestInstances installs on a cluster of its own with helm-controller. The subtests have namespaces of their own, and run
// in parallel, because Flux waits for much of the time.
func TestInstances(t *testing.T) {
	useHelmSystem(t)
	for name, run := range map[string]func(*testing.T){
		"locking": lockValue, "platform": limitBackends,

		"life": liveWithInstances, "failure": failToUpgrade, "removal": removeInstances, "sharing": shareInstances,
		"adoption": adoptInstances, "states": reportInstances,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t)
		})
	}
}

// installing is a namespace with a catalog of charts, and with selections that install them.
type installing struct {
	*estate
	dir string // of the files that are committed
}

// in returns the same namespace for a subtest.
func (i *installing) in(t *testing.T) *installing {
	return &installing{&estate{&scenario{t: t, name: i.name, selection: i.selection}}, i.dir}
}

// as returns the same namespace for a selection.
func (i *installing) as(selection string) *installing {
	return &installing{&estate{&scenario{t: i.t, name: i.name, selection: i.selectionOf(selection)}}, i.dir}
}

// newInstalling creates the namespace.
func newInstalling(t *testing.T, name string) *installing {
	t.Helper()
	i := &installing{&estate{&scenario{t: t, name: name}}, t.TempDir()}
	i.selection = i.selectionOf(name)
	i.create(namespace(name))
	return i
}

// charts returns the URL of the charts of the namespace.
func (i *installing) charts() string {
	return fmt.Sprintf("oci://%s/%s-charts", system.RegistryHost(), i.name)
}

// offer pushes a catalog of these applications as a tag. It pushes no charts.
func (i *installing) offer(tag string, apps ...packaged) {
	i.t.Helper()
	dir := i.t.TempDir()
	for _, a := range apps {
		write(i.t, filepath.Join(dir, "applications", a.name, "application.yaml"), a.definition(i.charts()))
		if a.metadata != "" {
			write(i.t, filepath.Join(dir, "applications", a.name, "metadata.yaml"), a.metadata)
		}
	}
	i.pushDir(tag, dir)
}

// deploy commits an overlay over the selection in base/, with more lines in its spec, and applies it.
func (i *installing) deploy(spec string) {
	i.t.Helper()
	patch := fmt.Sprintf("apiVersion: catalog.winnow.dev/v1alpha1\nkind: CatalogSelection\nmetadata: {name: %s, namespace: %[1]s}\nspec:\n%s",
		i.name, spec)
	write(i.t, filepath.Join(i.dir, "cluster", "patch.yaml"), patch)
	if err := system.ApplyKustomization(i.t.Context(), filepath.Join(i.dir, "cluster")); err != nil {
		i.t.Fatal(err)
	}
}

// commitBase commits the selection that deploy patches.
func (i *installing) commitBase(manifest string) {
	i.t.Helper()
	write(i.t, filepath.Join(i.dir, "base", "selection.yaml"), manifest)
	write(i.t, filepath.Join(i.dir, "base", "kustomization.yaml"), "resources: [selection.yaml]\n")
	write(i.t, filepath.Join(i.dir, "cluster", "kustomization.yaml"), "resources: [../base]\npatches: [{path: patch.yaml}]\n")
}

// follow points the OCIRepository of the catalog to a tag, and returns the digest that it has there.
func (i *installing) follow(tag string) string {
	i.t.Helper()
	i.point(tag)
	return i.awaitPulled(tag)
}

// SPDX-License-Identifier: Apache-2.0

package backend_test

import (
	"os"
	"testing"

	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/backends"
	"github.com/winnow-dev/winnow/render/catalog"
)

// Every version in the example catalogs can be installed, and no two instances are in each other's way.
func TestExampleCatalogsCanBeInstalled(t *testing.T) {
	for _, dir := range []string{"catalog", "plain-flux/catalog"} {
		t.Run(dir, func(t *testing.T) { canBeInstalled(t, "../../examples/"+dir) })
	}
}

func canBeInstalled(t *testing.T, dir string) {
	loaded, err := catalog.Load(t.Context(), os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	// The values that KKP would fill in.
	values := map[string]string{
		"alert-rules":           "{cluster: edge}",
		"external-dns":          "{txtOwnerId: edge}",
		"kube-prometheus-stack": "{prometheus: {prometheusSpec: {externalLabels: {cluster: edge, kubernetes_version: null}}}}",
	}
	for _, b := range []string{backend.Helm, backend.ApplicationInstallation} {
		built := map[string][]backend.Object{}
		for _, application := range loaded.Applications {
			spec, err := application.Spec()
			if err != nil {
				t.Fatal(err)
			}
			for _, version := range application.Versions {
				objects, err := backends.Named(b).Build(backend.Instance{
					Name: application.Name, Namespace: "apps", Application: application, Definition: spec, Version: version,
					Values: parse(t, values[application.Name]),
				})
				if err != nil {
					t.Errorf("%s: version %s: %v", b, version, err)
				}
				built[application.Name] = objects
			}
		}
		if _, err := backend.Union(built); err != nil || len(built) != len(loaded.Applications) {
			t.Errorf("%s: %d instances: %v", b, len(built), err)
		}
	}
}

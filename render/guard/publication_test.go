// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/kustomize"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/guard"
)

// An edit that cannot be the reason for a removal must not count as one.
func TestTheRecordedPartOfTheSpec(t *testing.T) {
	base := func() *v1alpha1.CatalogSelection {
		return edit(func(s *v1alpha1.CatalogSelectionSpec) {
			s.Sources = append(s.Sources, v1alpha1.SourceReference{Name: "b"})
		})
	}
	for _, test := range []struct {
		name   string
		edit   func(*v1alpha1.CatalogSelection)
		counts bool
	}{
		{"the interval", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Interval.Duration = time.Hour }, false},
		{"suspend", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Suspend = true }, false},
		{"an approval", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Safeguards.Approve = []string{"sha256:00"} }, false},
		{"where it is pushed to", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Push = &v1alpha1.Push{URL: "oci://registry.example/x"} }, false},
		{"the catalog of what is pushed", func(cs *v1alpha1.CatalogSelection) {
			cs.Spec.Push = &v1alpha1.Push{URL: "oci://registry.example/x", Catalog: &v1alpha1.PushCatalog{Kind: "ClusterCatalog"}}
		}, true},
		{"the safeguards", func(cs *v1alpha1.CatalogSelection) {
			cs.Spec.Safeguards = v1alpha1.Safeguards{OnRemoval: "Publish", OnVersionRemoval: "Publish", OnMajorUpgrade: "Hold"}
		}, false},
		{"the cluster", func(cs *v1alpha1.CatalogSelection) {
			cs.Spec.Cluster = v1alpha1.Cluster{Bypass: "Ignore", Unmanaged: "Label"}
		}, false},
		{"the account", func(cs *v1alpha1.CatalogSelection) { cs.Spec.ServiceAccountName = "tenant" }, false},
		{"a demand for a verification", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources[1].RequireVerified = true }, false},
		{"the metadata", func(cs *v1alpha1.CatalogSelection) { cs.Generation, cs.Labels = 7, map[string]string{"a": "b"} }, false},
		{"the sources", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources[0].Name = "other" }, true},
		{"the limit", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Limit = &v1alpha1.Limit{NameSelector: []string{"a"}} }, true},
		{"exclude", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Exclude = []string{"a"} }, true},
		{"the versions", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Versions = []v1alpha1.VersionRule{{Constraint: ">1"}} }, true},
		{"the patches", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Patches = []kustomize.Patch{{Patch: "x"}} }, true},
		{"an empty result", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Safeguards.OnEmpty = "Publish" }, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			cs := base()
			test.edit(cs)
			before := cs.DeepCopy()
			if counts := !reflect.DeepEqual(guard.RenderedSpec(cs), guard.RenderedSpec(base())); counts != test.counts {
				t.Errorf("counts as an edit: %v", counts)
			}
			if !reflect.DeepEqual(before, cs) {
				t.Error("the selection was changed")
			}
		})
	}
}

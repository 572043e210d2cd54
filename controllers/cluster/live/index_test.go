// SPDX-License-Identifier: Apache-2.0

package live

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/guard"
)

// What an index lacks concerns no selection: it is neither guarded nor marked.
func TestWhatFindsALiveObject(t *testing.T) {
	for _, test := range []struct {
		name   string
		object guard.Live
		want   []string
	}{
		{"a definition of a stranger, which is in no namespace", object("ApplicationDefinition", nil, nil), []string{"any", "key//grafana"}},
		{"the object of an instance", object("HelmRelease", nil, nil), []string{"any", "key/apps/grafana"}},
		{
			"what a Kustomization has applied for a selection",
			object("HelmRelease", map[string]string{
				"kustomize.toolkit.fluxcd.io/name": "applications", "kustomize.toolkit.fluxcd.io/namespace": "flux-system",
				v1alpha1.NameLabel: "kkp", v1alpha1.NamespaceLabel: "tenant",
			}, nil),
			[]string{"any", "key/apps/grafana", "owner/flux-system/applications", "selection/tenant/kkp"},
		},
		{"a bypass", object("ApplicationDefinition", map[string]string{v1alpha1.BypassLabel: ""}, nil), []string{"any", "key//grafana", "marked"}},
		{"a mark of the admission policy", object("ApplicationDefinition", nil, map[string]string{v1alpha1.BypassMarkAnnotation: "true"}), []string{"any", "key//grafana", "marked"}},
		{"another client's annotation for Flux", object("ApplicationDefinition", nil, map[string]string{guard.ReconcileAnnotation: guard.Disabled}), []string{"any", "key//grafana"}},
		{"a mark", marks(object("ApplicationDefinition", nil, map[string]string{guard.ReconcileAnnotation: guard.Disabled})), []string{"any", "key//grafana", "marked"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			trim(&test.object)
			if got := index(&test.object); !slices.Equal(got, test.want) {
				t.Errorf("the values are %q, want %q", got, test.want)
			}
		})
	}
}

func object(kind string, labels, annotations map[string]string) guard.Live {
	return guard.Live{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps.kubermatic.k8c.io/v1", Kind: kind},
		ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "grafana", Labels: labels, Annotations: annotations},
	}
}

// marks adds the fields of the field managers of marks and of another client.
func marks(object guard.Live) guard.Live {
	object.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}, {Manager: guard.MarksOwner}}
	return object
}

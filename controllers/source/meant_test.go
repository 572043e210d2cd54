// SPDX-License-Identifier: Apache-2.0

package source

import (
	"strings"
	"testing"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/failure"
)

// Who may write a selection in one namespace may be unable to list the sources of another one.
func TestAMisspeltSourceNamesOnlySourcesOfItsNamespace(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := sourcev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	catalog := &sourcev1.OCIRepository{ObjectMeta: metav1.ObjectMeta{Namespace: "platform", Name: "catalog"}}
	sources := &Sources{Reader: fake.NewClientBuilder().WithScheme(scheme).WithObjects(catalog).Build()}
	for _, test := range []struct{ name, namespace, source, want string }{
		{"in its namespace", "platform", "catalg", "OCIRepository platform/catalg does not exist: did you mean catalog?"},
		{"without a resemblance", "platform", "none", "OCIRepository platform/none does not exist"},
		{"without an artifact", "platform", "catalog", "OCIRepository platform/catalog has no artifact yet"},
		{"in another namespace", "tenant", "catalg", "OCIRepository platform/catalg does not exist"},
	} {
		t.Run(test.name, func(t *testing.T) {
			cs := &v1alpha1.CatalogSelection{ObjectMeta: metav1.ObjectMeta{Namespace: test.namespace}}
			cs.Spec.Sources = []v1alpha1.SourceReference{{Kind: sourcev1.OCIRepositoryKind, Name: test.source, Namespace: "platform"}}
			_, err := sources.Observe(t.Context(), cs)
			if err == nil || !strings.Contains(err.Error(), test.want) || failure.ReasonOf(err) != v1alpha1.SourceNotReadyReason {
				t.Fatalf("Observe() = %v, want %q", err, test.want)
			}
			if means := strings.Contains(err.Error(), "did you mean"); means != strings.Contains(test.want, "did you mean") {
				t.Errorf("Observe() = %v, want %q", err, test.want)
			}
		})
	}
}

// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"os"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/kustomize"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// Patches are refused, or have an effect, without taking more memory than their text accounts for.
func TestCostOfHostilePatches(t *testing.T) {
	argocd := kustomize.Selector{Name: "argocd"}
	deep := strings.Repeat("{a: ", 90) + "1" + strings.Repeat("}", 90)
	for _, test := range []struct {
		name, patch string
		target      kustomize.Selector
		want        string
	}{
		{"an index of 20 digits", "- {op: add, path: /spec/versions/99999999999999999999, value: 1}", argocd, "spec.patches: kustomize refuses the patches: "},
		{"an index of a billion", "- {op: add, path: /spec/versions/1000000000, value: 1}", argocd, "spec.patches: kustomize refuses the patches: "},
		{"a negative index", "- {op: add, path: /spec/versions/-1000000000, value: 1}", argocd, "spec.patches: kustomize refuses the patches: "},
		{"4,000 tests", strings.Repeat("- {op: test, path: /spec/method, value: helm}\n", 4_000), argocd, ""},
		{"a test that fails", "- {op: test, path: /spec/method, value: git}", argocd, "spec.patches: kustomize refuses the patches: "},
		{"4,000 moves", strings.Repeat("- {op: move, from: /spec/method, path: /spec/x}\n- {op: move, from: /spec/x, path: /spec/method}\n", 2_000), argocd, ""},
		{"a value of 90 levels", "- {op: add, path: /spec/x, value: " + deep + "}", argocd, ""},
		{"a value of 9,000 levels", "- {op: add, path: /spec/x, value: " + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000) + "}", argocd, "spec.patches[0].patch: "},
		{"300,000 values", "- {op: add, path: /spec/x, value: [" + strings.Repeat("1,", 300_000) + "]}", argocd, "spec.patches[0].patch: "},
		{"a path of 100,000 elements", "- {op: add, path: " + strings.Repeat("/a", 100_000) + ", value: 1}", argocd, "spec.patches: kustomize refuses the patches: "},
		{"a pattern of 21 KB as a target", "- {op: remove, path: /spec/method}", kustomize.Selector{Name: strings.Repeat("x{1000}", 3_000)}, "spec.patches[0].target: "},
		{"an invalid pattern as a target", "- {op: remove, path: /spec/method}", kustomize.Selector{Kind: "(?:a{1000}){1000}"}, "spec.patches[0]: "},
		{"NUL", "- {op: add, path: /spec/x, value: \"\x00\"}", argocd, "spec.patches[0].patch: "},
		{"bytes that are no UTF-8", "- {op: add, path: /spec/x, value: \"\xff\"}", argocd, "spec.patches[0].patch: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			var err error
			took := allocated(func() {
				_, err = renderFS(t.Context(), os.DirFS("../examples/catalog"), selectionOf(func(cs *v1alpha1.CatalogSelection) {
					cs.Spec.Patches = []kustomize.Patch{{Patch: test.patch, Target: &test.target}}
				}))
			})
			switch {
			case test.want == "" && err != nil:
				t.Errorf("the error is %.300v", err)
			case test.want != "" && (reasonOf(err) != v1alpha1.InvalidSpecReason || !strings.HasPrefix(err.Error(), test.want) || len(err.Error()) > 2<<10):
				t.Errorf("the error is %.300v, want %s", err, test.want)
			}
			if most := int64(64<<20 + 1_000*len(test.patch)); took > most {
				t.Errorf("%d KB of patch allocate %d MB", len(test.patch)>>10, took>>20)
			}
			t.Logf("%d KB, %d MB: %.150v", len(test.patch)>>10, took>>20, err)
		})
	}
}

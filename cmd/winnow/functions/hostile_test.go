package functions

import (
	"slices"
	"testing"
)

// What kustomize reads, and Resolve does not, would run with the flags that are printed for others.
func TestKustomizeReadsNothingElse(t *testing.T) {
	hidden := configText("a") + "  annotations: {config.kubernetes.io/function: 'exec: {path: ./evil}'}\n"
	const other = "kustomize reads other transformers here: write the field once, in lower case, and without <<"
	for name, test := range map[string]struct {
		files map[string]string
		want  string
	}{
		"in a field in capitals": {map[string]string{"kustomization.yaml": "resources: []\nTransformers: [evil.yaml]\n", "evil.yaml": hidden},
			"kustomization.yaml:1: " + other},
		"in a field with another s": {map[string]string{"kustomization.yaml": "transformer\u017f: [evil.yaml]\n", "evil.yaml": hidden},
			"kustomization.yaml:1: " + other},
		"in a merge": {map[string]string{"kustomization.yaml": "resources: []\ntransformers: [a.yaml]\n<<: {transformers: [evil.yaml]}\n",
			"a.yaml": configText("a"), "evil.yaml": hidden}, "kustomization.yaml:2: " + other},
		"nothing, by a merge": {map[string]string{"kustomization.yaml": "resources: []\nvalidators: [a.yaml]\n<<: {validators: []}\n", "a.yaml": configText("a")},
			"kustomization.yaml:2: kustomize reads other validators here: write the field once, in lower case, and without <<"},
	} {
		_, got := resolveFiles(t, test.files)
		if !slices.Equal(got, []string{test.want}) {
			t.Errorf("%s:\n got %q\nwant %q", name, got, test.want)
		}
	}
}

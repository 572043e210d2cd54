// SPDX-License-Identifier: Apache-2.0

package inputs

import "testing"

// Whatever a file of a repository has, reading it as a kustomization file and as a configuration ends, and no address is
// taken for a path.
func FuzzKustomization(f *testing.F) {
	for _, content := range []string{
		"", "resources: [a.yaml, ../b, https://example.com/x]\ncomponents: [c]\n", "patches: [{path: p.yaml, target: {kind: X}}]\n",
		"a: &a [x]\nb: [*a, *a]\n", "transformers:\n- |\n  kind: x\n", "configMapGenerator: [{name: x, files: ['k=https://example.com']}]\n",
		"bases: [x]\npatchesStrategicMerge: ['{}']\npatchesJson6902: [{patch: x}]\n", "a: &a [*a]\n", "[",
	} {
		f.Add([]byte(content))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		if CheckAliases(content) != nil {
			return
		}
		if address, err := addressIn(content); err == nil && address != "" && !isAddress(address) {
			t.Errorf("%q is no address", address)
		}
		k, err := parseKustomization(content)
		if err != nil {
			return
		}
		for _, e := range entries(k) {
			if e.value == "" || isAddress(e.value) && !isRemote(e.value) && !isDocument(e.value) {
				t.Errorf("%s: %q is an address, and is not taken for one", e.field, e.value)
			}
		}
	})
}

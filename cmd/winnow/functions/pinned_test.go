// SPDX-License-Identifier: Apache-2.0

package functions

import (
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/render/krmfunctions"
)

func TestPinnedAddsDigestsBehindImages(t *testing.T) {
	const head = "apiVersion: config.kubernetes.io/v1alpha1\nkind: Catalog\n"
	catalog := func(runtime string) string {
		return head + "spec:\n  krmFunctions:\n  - {group: a.b, kind: A, versions: [{name: v1}], runtime: " + runtime + "}\n"
	}
	hash := strings.Repeat("0a", 32)
	for name, test := range map[string]struct{ text, want string }{
		"in braces": {catalog("{container: {image: a, requireNetwork: true}}"), "{container: {image: a, sha256: " + hash + ", requireNetwork: true}}"},
		"in quotes": {catalog("{container: {image: 'a:v1'}}"), "{container: {image: 'a:v1', sha256: " + hash + "}}"},
		"in JSON":   {catalog(`{"container": {"image": "a:v1"}}`), `{"container": {"image": "a:v1", "sha256": "` + hash + `"}}`},
		"two in a line": {head + "spec: {krmFunctions: [{group: a.b, kind: A, versions: [{name: v1}], runtime: {container: {image: a}}}, {group: a.b, kind: B, versions: [{name: v1}], runtime: {container: {image: b}}}]}\n",
			"{image: a, sha256: " + hash + "}}}, {group: a.b, kind: B, versions: [{name: v1}], runtime: {container: {image: b, sha256: " + hash + "}}"},
		"another name for it": {strings.Replace(catalog("*r"), "spec:", "x: &r {container: {image: a}}\nspec:", 1), "x: &r {container: {image: a, sha256: " + hash + "}}"},
		"below":               {head + "spec:\n  krmFunctions:\n  - group: a.b\n    kind: A\n    versions:\n    - name: v1\n    runtime:\n      container:\n        image: a # c\n        requireNetwork: true", "        image: a # c\n        sha256: " + hash + "\n        requireNetwork: true"},
	} {
		loaded := loadText(t, test.text)
		var containers []*krmfunctions.Container
		for _, f := range loaded.Functions {
			c := f.Versions[0].Runtime.Container
			c.SHA256 = hash
			containers = append(containers, c)
		}
		got, err := pinned([]byte(test.text), containers)
		if err != nil || !strings.Contains(string(got), test.want) {
			t.Errorf("%s: %v\n%s", name, err, got)
			continue
		}
		for _, f := range loadText(t, string(got)).Functions {
			if c := f.Versions[0].Runtime.Container; c.SHA256 != hash {
				t.Errorf("%s: %+v", name, c)
			}
		}
	}
}

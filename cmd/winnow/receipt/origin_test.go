// SPDX-License-Identifier: Apache-2.0

package receipt

import "testing"

func TestVersionOf(t *testing.T) {
	const sum = "@sha256:0123456789abcdef"
	for origin, want := range map[string]string{
		"": "", "v1.1.1" + sum: "v1.1.1", "1.0.0-rc.1" + sum: "1.0.0-rc.1", "latest" + sum: "latest@0123456", "main@sha1:9f3e12ab": "main@9f3e12a",
		"OCIRepository/flux-system/catalog=v1.1.1" + sum + ",GitRepository/a/b=main@sha1:9f": "catalog v1.1.1, b main@9f",
		"@": "", "sha256:01": "sha256:01", "=,=": ", ",
	} {
		if got := VersionOf(origin); got != want {
			t.Errorf("VersionOf(%q) = %q, want %q", origin, got, want)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package version

import (
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/output"
)

func TestVersionInfoFormat(t *testing.T) {
	info := Info{output.NewDocument("Version"), "v1.2.3", "go1.26", "linux/amd64"}
	tests := []struct{ output, want string }{
		{"table", "winnow v1.2.3 (go1.26, linux/amd64)\n"},
		{"json", "{\n  \"apiVersion\": \"cli.winnow.dev/v1alpha1\",\n  \"kind\": \"Version\",\n  \"version\": \"v1.2.3\",\n  \"go\": \"go1.26\",\n  \"platform\": \"linux/amd64\"\n}\n"},
		{"yaml", "apiVersion: cli.winnow.dev/v1alpha1\ngo: go1.26\nkind: Version\nplatform: linux/amd64\nversion: v1.2.3\n"},
	}
	for _, test := range tests {
		got, err := info.format(test.output)
		if got != test.want || err != nil {
			t.Errorf("format(%q) = %q, %v, want %q", test.output, got, err, test.want)
		}
	}
}

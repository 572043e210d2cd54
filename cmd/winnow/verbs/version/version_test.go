// SPDX-License-Identifier: Apache-2.0

package version

import (
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/output"
)

func TestVersionInfoFormat(t *testing.T) {
	recorded := Info{output.NewDocument("Version"), "v1.2.3", "0123abc", "2026-01-02T03:04:05Z", "go1.26", "linux/amd64", "catalog.winnow.dev/v1"}
	unknown := Info{output.NewDocument("Version"), "v1.2.3", "", "", "go1.26", "linux/amd64", "catalog.winnow.dev/v1"}
	tests := []struct {
		info         Info
		output, want string
	}{
		{recorded, "table", "winnow v1.2.3 (go1.26, linux/amd64, catalog.winnow.dev/v1, commit 0123abc, 2026-01-02T03:04:05Z)\n"},
		{unknown, "table", "winnow v1.2.3 (go1.26, linux/amd64, catalog.winnow.dev/v1)\n"},
		{recorded, "json", "{\n  \"apiVersion\": \"cli.winnow.dev/v1alpha1\",\n  \"kind\": \"Version\",\n  \"version\": \"v1.2.3\",\n  \"commit\": \"0123abc\",\n" +
			"  \"date\": \"2026-01-02T03:04:05Z\",\n  \"go\": \"go1.26\",\n  \"platform\": \"linux/amd64\",\n  \"api\": \"catalog.winnow.dev/v1\"\n}\n"},
		{unknown, "yaml", "api: catalog.winnow.dev/v1\napiVersion: cli.winnow.dev/v1alpha1\ngo: go1.26\nkind: Version\nplatform: linux/amd64\nversion: v1.2.3\n"},
	}
	for _, test := range tests {
		var got strings.Builder
		if err := output.Write(&got, test.output, test.info); got.String() != test.want || err != nil {
			t.Errorf("Write(%q) = %q, %v, want %q", test.output, got.String(), err, test.want)
		}
	}
}

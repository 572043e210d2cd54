package main

import "testing"

func TestVersionInfoFormat(t *testing.T) {
	info := versionInfo{Version: "v1.2.3", Go: "go1.26", Platform: "linux/amd64"}
	tests := []struct{ output, want string }{
		{"table", "winnow v1.2.3 (go1.26, linux/amd64)\n"},
		{"json", "{\n  \"version\": \"v1.2.3\",\n  \"go\": \"go1.26\",\n  \"platform\": \"linux/amd64\"\n}\n"},
		{"yaml", "go: go1.26\nplatform: linux/amd64\nversion: v1.2.3\n"},
	}
	for _, test := range tests {
		got, err := info.format(test.output)
		if got != test.want || err != nil {
			t.Errorf("format(%q) = %q, %v, want %q", test.output, got, err, test.want)
		}
	}
}

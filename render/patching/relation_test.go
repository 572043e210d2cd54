// SPDX-License-Identifier: Apache-2.0

package patching

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A kind that a newer kustomize relates by name has to be known here.
func TestKindsThatKustomizeRelates(t *testing.T) {
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kustomize/api").Output()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "internal/konfig/builtinpluginconsts/namereference.go"))
	if err != nil {
		t.Fatal(err)
	}
	for expression, known := range map[string][]string{`(?m)^ +(?:- )?kind: (\w+)`: referrers(), `(?m)^- kind: (\w+)`: referrals()} {
		var kinds []string
		for _, match := range regexp.MustCompile(expression).FindAllStringSubmatch(string(content), -1) {
			kinds = append(kinds, match[1])
		}
		slices.Sort(kinds)
		if kinds = slices.Compact(kinds); !slices.Equal(kinds, known) {
			t.Errorf("kustomize relates %q\nknown are %q", kinds, known)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package install_test

import (
	"os"
	"path/filepath"
	"testing"
)

// TestVariablesOfMakeAreNotRun: a pipeline may take them from the name of a branch or tag, in which git allows quotes,
// semicolons and redirections.
func TestVariablesOfMakeAreNotRun(t *testing.T) {
	for target, variables := range map[string][]string{
		"image":             {"IMAGE_PROGRAM", "IMAGE_REPO", "IMAGE_TAG", "IMAGE_PLATFORMS", "IMAGE_BASE", "SOURCE_DATE_EPOCH"},
		"release-manifests": {"IMAGE", "MANIFESTS"},
		"release-oci":       {"RELEASE_VERSION", "RELEASE_REGISTRY", "COSIGN_KEY", "COSIGN_PUBLIC_KEY"},
		"build":             {"VERSION", "COMMIT", "COMMIT_DATE"},
	} {
		for _, variable := range variables {
			for _, quote := range []string{"", "'", `"`} {
				created := filepath.Join(t.TempDir(), "created")
				value := "v1" + quote + ";echo>" + created + ";" + quote
				// Nothing is built: true ignores the arguments of go.
				makeIn(t, root(t), nil, target, variable+"="+value, "GO=true", "KO=/dev/null", "BIN="+t.TempDir())
				if _, err := os.Stat(created); err == nil {
					t.Errorf("make %s runs what %s contains: %s", target, variable, value)
				}
			}
		}
	}
}

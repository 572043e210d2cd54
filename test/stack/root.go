// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// modulePath is the module path in the go.mod of the repository.
const modulePath = "github.com/winnow-dev/winnow"

// Root returns the directory of the repository. It does not depend on the working directory.
func Root(ctx context.Context) (string, error) {
	// The compiler records the path of this file, unless -trimpath is set.
	if _, file, _, ok := runtime.Caller(0); ok && filepath.IsAbs(file) {
		root := filepath.Dir(filepath.Dir(filepath.Dir(file)))
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			return root, nil
		}
	}
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", modulePath).Output()
	if err != nil {
		return "", fmt.Errorf("locating the repository: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// fromRoot returns an absolute path. A relative path starts at the root of the repository.
func fromRoot(root, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(root, path)
}

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

// modulePath is the product's module, as its go.mod names it.
const modulePath = "github.com/winnow-dev/winnow"

// Root returns the directory of the repository, whatever the working directory is.
func Root(ctx context.Context) (string, error) {
	// The compiler recorded where this file is, unless it was told to trim paths.
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

// fromRoot makes a path absolute; relative ones start at the root of the repository.
func fromRoot(root, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(root, path)
}

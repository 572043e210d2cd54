// SPDX-License-Identifier: Apache-2.0

package functions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/files"
	"github.com/winnow-dev/winnow/cmd/winnow/functions"
	"github.com/winnow-dev/winnow/cmd/winnow/oci"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/render/dialect"
)

// defaultFunctionCatalogs returns the catalogs of functions in the file winnow/functions.yaml of the user's directory of
// configuration, which a platform team may install: it stands for the catalog that KEP-2906 compiles into kustomize.
// Paths in it are relative to it.
func defaultFunctionCatalogs(ctx context.Context, notes io.Writer) ([]string, error) {
	dir, err := os.UserConfigDir()
	switch {
	case err != nil && os.Getenv("XDG_CONFIG_HOME") != "":
		return nil, fmt.Errorf("looking for the catalogs of this user: %w", err)
	case err != nil:
		return nil, nil // a user without a home has no configuration
	}
	file := filepath.Join(dir, "winnow", "functions.yaml")
	content, err := files.ReadFile(ctx, file, maxDefaults)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading the catalogs of this user: %w", err)
	}
	var defaults struct {
		Catalogs []string `json:"catalogs"`
	}
	if err := dialect.UnmarshalStrict(content, &defaults); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for i, where := range defaults.Catalogs {
		if !strings.HasPrefix(where, oci.Scheme) && !strings.HasPrefix(where, functions.HTTPS) && !filepath.IsAbs(where) {
			defaults.Catalogs[i] = filepath.Join(filepath.Dir(file), where)
		}
	}
	if len(defaults.Catalogs) > 0 {
		output.PrintNote(notes, fmt.Sprintf("note: %s has the first catalogs: %s", file, strings.Join(defaults.Catalogs, ", ")))
	}
	return defaults.Catalogs, nil
}

// maxDefaults bounds the file of the user's catalogs, in bytes.
const maxDefaults = 64 << 10

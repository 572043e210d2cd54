// SPDX-License-Identifier: Apache-2.0

// Package corpus reads the parts of a catalog, valid or not, that rules check: its definitions with their metadata,
// each with the lines of its fields.
//
// It reports no errors of files: package catalog does. It must not know rules.
package corpus

import (
	"context"
	"io/fs"
	"strings"

	"github.com/winnow-dev/winnow/render/catalog"
)

// Corpus is what can be read of a catalog, valid or not.
type Corpus struct {
	Definitions []*Definition // sorted by path
}

// Read reads what it can. The error is the file system's or the context's.
func Read(ctx context.Context, fsys fs.FS, format catalog.Format) (*Corpus, error) {
	read := readApplications
	if format == (catalog.Definitions{}) {
		read = readDocuments
	}
	definitions, err := read(ctx, fsys)
	if err != nil {
		return nil, err
	}
	for _, d := range definitions {
		d.Name = d.Root.Get("metadata", "name").Text()
		d.Group, _, _ = strings.Cut(d.Root.Get("apiVersion").Text(), "/")
	}
	return &Corpus{Definitions: definitions}, nil
}

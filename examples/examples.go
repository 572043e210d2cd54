// SPDX-License-Identifier: Apache-2.0

// Package examples embeds the example that `winnow init` writes. It must not know where it is written.
package examples

import (
	"embed"
	"io/fs"
)

//go:embed catalog-repo
var catalogRepository embed.FS

// CatalogRepository returns the files of catalog-repo, without the hidden ones: the workflows there are for GitHub.
func CatalogRepository() (fs.FS, error) { return fs.Sub(catalogRepository, "catalog-repo") }

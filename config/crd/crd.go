// SPDX-License-Identifier: Apache-2.0

// Package crd embeds the CustomResourceDefinitions that are installed in clusters, so that programs can check objects
// without a cluster. It must not know how they are used.
package crd

import (
	"embed"
	"io/fs"
)

//go:embed bases/*.yaml
var bases embed.FS

// Files returns the files of config/crd, below bases.
func Files() fs.FS { return bases }

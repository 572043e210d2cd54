// Package crd carries the CustomResourceDefinitions that the cluster gets, so that programs can check
// objects by them without a cluster. It must not know what is done with them.
package crd

import (
	"embed"
	"io/fs"
)

//go:embed bases/*.yaml
var bases embed.FS

// Files returns the files of config/crd, below bases.
func Files() fs.FS { return bases }

// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"github.com/winnow-dev/winnow/render/lint/field"
)

// Definition is an application, or what should be one.
type Definition struct {
	Path  string // of the file that defines it
	Above int    // lines of the file above its document
	// MetadataPath is empty in a format that has no such file.
	MetadataPath string
	// Root and Metadata have no value where there is no document, or none that can be read.
	Root, Metadata field.Field
	HasMetadata    bool
	// Data is the document, and File and MetadataFile are the files, nil without.
	Data, File, MetadataFile []byte
	// Name is metadata.name, and Group the group of apiVersion.
	Name, Group string
}

// Report takes what is wrong with a definition in a line of one of its files, with what fmt.Sprintf makes a message of.
type Report func(d *Definition, path string, line int, format string, args ...any)

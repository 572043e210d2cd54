// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"errors"
	"fmt"
	"io/fs"
)

// Read reads the bundle at the root of fsys. The error is a *violation.InvalidError when the content is wrong, with every
// violation up to a bound. Other errors are the file system's.
func Read(fsys fs.FS) (*Bundle, error) {
	r, b := &reader{fsys: fsys}, &Bundle{}
	for _, directory := range []string{ManifestsDirectory, MetadataDirectory} {
		info, err := fs.Stat(fsys, directory)
		switch {
		case errors.Is(err, fs.ErrNotExist), err == nil && !info.IsDir():
			r.report.Add(directory, "is no directory: a bundle has %s and %s", ManifestsDirectory, MetadataDirectory)
		case err != nil:
			return nil, fmt.Errorf("reading %s: %w", directory, err)
		}
	}
	if err := r.report.Err(); err != nil {
		return nil, err
	}
	if err := r.readMetadata(b); err != nil {
		return nil, err
	}
	if err := r.readManifests(b); err != nil {
		return nil, err
	}
	if err := r.report.Err(); err != nil {
		return nil, err
	}
	return b, nil
}

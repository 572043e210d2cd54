// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"path"

	"github.com/opencontainers/go-digest"
)

// tarball is a layer with the files of a directory.
type tarball struct {
	gzip   []byte
	diffID digest.Digest // of the uncompressed bytes
}

// packTar packs all directories and regular files of a file system below a directory: in lexical order, without
// times and owners, so that the same files give the same bytes.
func packTar(files fs.FS, below string) (tarball, error) {
	var plain, compressed bytes.Buffer
	writer := tar.NewWriter(&plain)
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		return addToTar(writer, files, name, below, entry)
	})
	if err := errors.Join(err, writer.Close()); err != nil {
		return tarball{}, err
	}
	zip := gzip.NewWriter(&compressed)
	_, err = zip.Write(plain.Bytes())
	if err := errors.Join(err, zip.Close()); err != nil {
		return tarball{}, err
	}
	return tarball{gzip: compressed.Bytes(), diffID: digest.FromBytes(plain.Bytes())}, nil
}

func addToTar(writer *tar.Writer, files fs.FS, name, below string, entry fs.DirEntry) error {
	switch {
	case entry.IsDir():
		return writer.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: path.Join(below, name) + "/", Mode: 0o755})
	case !entry.Type().IsRegular():
		return nil
	}
	content, err := fs.ReadFile(files, name)
	if err != nil {
		return err
	}
	header := &tar.Header{Typeflag: tar.TypeReg, Name: path.Join(below, name), Mode: 0o644, Size: int64(len(content))}
	if err := writer.WriteHeader(header); err != nil {
		return err
	}
	_, err = writer.Write(content)
	return err
}

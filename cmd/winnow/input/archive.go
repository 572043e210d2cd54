// SPDX-License-Identifier: Apache-2.0

package input

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/files"
	"github.com/winnow-dev/winnow/cmd/winnow/oci"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/render/tree"
)

// compressed returns the content of the file. A file that is not compressed by gzip is an error that describes what it is, and
// what to pass instead.
func (a archiveFile) compressed(file io.Reader) (io.Reader, error) {
	content := bufio.NewReaderSize(file, maxSniffed)
	magic, err := content.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return content, nil
	}
	first, err := content.Peek(maxSniffed)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return nil, &render.Error{Code: v1alpha1.InvalidArchiveReason, Source: string(a), Err: errors.New(a.mistaken(first))}
}

// mistaken describes a file that is no archive by its first bytes.
func (a archiveFile) mistaken(first []byte) string {
	const want = "want a directory, a .tar.gz file or " + oci.Scheme + "host/repository"
	_, notTar := tar.NewReader(bytes.NewReader(first)).Next()
	kind := manifestKind.FindSubmatch(first)
	switch {
	case len(first) == 0:
		return "it is empty: " + want
	case bytes.HasPrefix(first, []byte("PK\x03\x04")):
		return "it is a zip archive: unpack it, and pass the directory"
	case notTar == nil:
		return fmt.Sprintf("it is a tar archive without gzip: gzip %s, and pass %s.gz", a, a)
	case bytes.IndexByte(first, 0) >= 0, kind == nil:
		return "it is no .tar.gz file: " + want
	case string(kind[1]) == v1alpha1.CatalogSelectionKind:
		return fmt.Sprintf("it is a %s, which -f takes, and no catalog: -f %s", kind[1], a)
	}
	return fmt.Sprintf("it is a manifest of kind %s, and no catalog: pass the directory of the catalog, or a .tar.gz of it", plaintext.Brief(string(kind[1]), 80))
}

// archiveFile is the path of a CATALOG in a .tar.gz file.
type archiveFile string

// manifestKind finds the kind of a manifest in YAML or JSON.
var manifestKind = regexp.MustCompile(`(?m)^[ \t]*["']?kind["']?[ \t]*:[ \t]*["']?([A-Za-z]+)`)

// maxSniffed is how much of a file tells what it is: a selection may have a comment above.
const maxSniffed = 64 << 10

func (a archiveFile) Files(ctx context.Context, limits archive.Limits, _ render.CatalogLocation) (*tree.Tree, error) {
	return files.Read(ctx, string(a), nil, func(file io.Reader) (*tree.Tree, error) {
		content, err := a.compressed(file)
		if err != nil {
			return nil, err
		}
		return archive.Read(ctx, content, limits)
	})
}

func (a archiveFile) Load(ctx context.Context, name string, place render.CatalogLocation) (selection.Source, error) {
	return files.Read(ctx, string(a), nil, func(file io.Reader) (selection.Source, error) {
		content, err := a.compressed(file)
		if err != nil {
			return selection.Source{}, err
		}
		loaded, err := render.LoadArchive(ctx, name, content, place)
		return selection.Source{Catalog: loaded}, err
	})
}

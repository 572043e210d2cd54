// SPDX-License-Identifier: Apache-2.0

package rendering

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	loader "helm.sh/helm/v4/pkg/chart/loader/archive"

	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/tree"
)

// MaxArchive bounds the archive of a chart, in bytes.
const MaxArchive = 32 << 20

// maxArchives bounds the archives of charts in an archive of a chart.
const maxArchives = 200

// Limits are the bounds of the archive of a chart, with the archives of charts in it. Helm has the same for bytes.
func Limits() archive.Limits {
	return archive.Limits{Compressed: MaxArchive, Total: 100 << 20, File: 5 << 20, Files: 20_000, Depth: 48}
}

// byteOrderMark may begin a file. Helm leaves it out.
var byteOrderMark = []byte{0xEF, 0xBB, 0xBF}

// unpack returns the files of the archive of a chart, without the directory that they are in, sorted by path. The archives of
// charts in it are unpacked, too: Helm reads a directory in charts as it reads an archive there.
func unpack(ctx context.Context, packed []byte) ([]*loader.BufferedFile, error) {
	u := unpacker{ctx: ctx, files: tree.New()}
	if err := u.archive("", packed); err != nil {
		return nil, err
	}
	var all []*loader.BufferedFile
	for _, name := range u.files.Paths() {
		content, _ := u.files.Content(name)
		all = append(all, &loader.BufferedFile{Name: name, Data: bytes.TrimPrefix(content, byteOrderMark)})
	}
	return all, nil
}

// unpacker unpacks archives that are in each other.
type unpacker struct {
	ctx      context.Context
	files    *tree.Tree
	unpacked int64 // bytes, archives included
	archives int
}

// archive adds the files of an archive below a directory.
func (u *unpacker) archive(directory string, packed []byte) error {
	u.archives++
	all := Limits()
	limits := all
	limits.Total, limits.Files = all.Total-u.unpacked, all.Files-u.files.Len()
	switch {
	case u.archives > maxArchives:
		return fmt.Errorf("it has more than %d archives of charts", maxArchives)
	case limits.Total <= 0, limits.Files <= 0:
		return fmt.Errorf("it has more than %d bytes, or more than %d files", all.Total, all.Files)
	}
	found, err := archive.Read(u.ctx, bytes.NewReader(packed), limits)
	if err != nil {
		return err
	}
	u.unpacked += found.Size()
	for _, name := range found.Paths() {
		content, _ := found.Content(name)
		_, below, isBelow := strings.Cut(name, "/")
		switch {
		case name == "Chart.yaml":
			return errors.New("it has a Chart.yaml that is not in a directory: pack the directory of the chart, as helm package does")
		case !isBelow: // Helm does not read it
		default:
			err = u.file(path.Join(directory, below), content)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (u *unpacker) file(name string, content []byte) error {
	if !isArchive(name) {
		return u.files.Add(name, content)
	}
	// Another name than *.tgz, because Helm would unpack that.
	if err := u.archive(name+".d", content); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// isArchive reports whether Helm reads a file as the archive of a chart: it lies in the directory charts of a chart.
func isArchive(name string) bool {
	elements := strings.Split(name, "/")
	if len(elements)%2 != 0 || path.Ext(name) != ".tgz" {
		return false
	}
	for i, element := range elements {
		if i%2 == 0 && element != "charts" || i%2 == 1 && strings.ContainsAny(element[:1], "_.") {
			return false
		}
	}
	return true
}

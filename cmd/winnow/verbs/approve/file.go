// SPDX-License-Identifier: Apache-2.0

package approve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/files"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/approve/approvalfile"
	"github.com/winnow-dev/winnow/render/guard"
)

// approveInFile adds the entries that a selection of a cluster offers to the same selection in a file.
func approveInFile(ctx context.Context, name string, cs *v1alpha1.CatalogSelection, out output.Streams) error {
	content, mode, err := readForEdit(name)
	if err != nil {
		return err
	}
	found, err := approvalfile.Find(content, types.NamespacedName{Namespace: cs.Namespace, Name: cs.Name})
	if err != nil {
		return output.Finding(fmt.Errorf("%s: %w", name, err))
	}
	entries := missingApprovals(cs, found.Approved())
	if len(entries) == 0 {
		fmt.Fprintf(out.Stdout, "%s:%d: already approved, nothing is written\n", name, found.Line())
		return nil
	}
	edited, err := found.Add(entries)
	if err != nil {
		return output.Finding(fmt.Errorf("%s:%d: %w", name, found.Line(), err))
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := rewriteFile(name, content, edited, mode); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	for _, entry := range entries {
		fmt.Fprintf(out.Stdout, "%s:%d: added %s\n", name, found.Line(), entry)
	}
	return nil
}

// errLink reports a path that is no file, and that a rename would replace.
var errLink = errors.New("it is a link or no file: name the file itself")

// readForEdit returns the content and the mode of a regular file that may be written.
func readForEdit(name string) ([]byte, fs.FileMode, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s: %w", name, errLink)
	}
	file, err := os.OpenFile(name, os.O_RDWR, 0) // a rename would replace a file that may not be written
	if err != nil {
		return nil, 0, err
	}
	defer file.Close()
	content, err := files.ReadBounded(name, file, files.MaxInputBytes)
	return content, info.Mode(), err
}

// rewriteFile replaces the content of a file by a rename, and keeps its mode. It refuses a file that has changed since
// before was read.
func rewriteFile(name string, before, after []byte, mode fs.FileMode) error {
	return files.Replace(name, mode.Perm(), func(f *os.File) error {
		_, err := f.Write(after)
		if err = errors.Join(err, f.Sync()); err != nil {
			return err
		}
		now, _, err := readForEdit(name)
		if err == nil && !bytes.Equal(now, before) {
			err = errors.New("it was changed at the same time: try again")
		}
		return err
	})
}

// missingApprovals returns the offered entries that no entry of a file gives: one with the same checksum and another
// note does, unless it is used up.
func missingApprovals(cs *v1alpha1.CatalogSelection, entries []string) []string {
	var missing []string
	unused := guard.Unused(entries, cs.Status.UsedApprovals)
	for _, entry := range cs.Status.Held.Approve {
		given := guard.Approves(unused, guard.Approved(entry))
		if strings.HasSuffix(entry, "#"+guard.NoteOf(cs)) { // which the entry needs
			given = slices.Contains(unused, entry)
		}
		if !given {
			missing = append(missing, entry)
		}
	}
	return missing
}

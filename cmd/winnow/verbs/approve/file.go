// SPDX-License-Identifier: Apache-2.0

package approve

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/files"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/approvalfile"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
)

// approveInFile adds the lines that a selection of a cluster offers to the same selection in a file.
func approveInFile(ctx context.Context, name string, cs *v1alpha1.CatalogSelection, out output.Streams) error {
	content, mode, err := files.ReadForEdit(name)
	if err != nil {
		return err
	}
	key := types.NamespacedName{Namespace: cs.Namespace, Name: cs.Name}
	if found, err := approvalfile.Find(content, key); err == nil && found.IsPatch() {
		return output.Finding(fmt.Errorf("%s:%d: it is a patch of the CatalogSelection, whose list would replace all others: "+
			"add the lines to its kustomization.yaml, as a JSON patch", name, found.Line()))
	}
	edited, line, err := approvalfile.Add(content, key, cs.Status.Held.Approve)
	switch {
	case err != nil:
		return output.Finding(fmt.Errorf("%s: %w", name, err))
	case bytes.Equal(edited, content):
		fmt.Fprintln(out.Stdout, alreadyApproved(name, line))
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	if err := files.Rewrite(name, content, edited, mode); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	fmt.Fprintln(out.Stdout, added(name, line, cs.Status.Held.Approve))
	if (repository.Git{Dir: filepath.Dir(name)}).IsUntracked(ctx, filepath.Base(name)) {
		fmt.Fprintf(out.Notes, "note: git does not know %s: run git add %s\n", name, name)
	}
	return nil
}

func added(name string, line int, entries []string) string {
	return fmt.Sprintf("%s:%d: added %s", name, line, strings.Join(entries, ", "))
}

func alreadyApproved(name string, line int) string {
	return fmt.Sprintf("%s:%d: the file has the lines already: commit it, and let Flux apply it", name, line)
}

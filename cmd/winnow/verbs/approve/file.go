// SPDX-License-Identifier: Apache-2.0

package approve

import (
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
	e, err := files.OpenEdit(name)
	if err != nil {
		return err
	}
	key := types.NamespacedName{Namespace: cs.Namespace, Name: cs.Name}
	if found, err := approvalfile.Find(e.Before, key); err == nil && found.IsPatch() {
		return output.Finding(fmt.Errorf("%s:%d: it is a patch of the CatalogSelection, whose list would replace all others: "+
			"add the lines to its kustomization.yaml, as a JSON patch", name, found.Line()))
	}
	var line int
	e.After, line, err = approvalfile.Add(e.Before, key, cs.Status.Held.Approve)
	switch {
	case err != nil:
		return output.Finding(fmt.Errorf("%s: %w", name, err))
	case !e.IsChanged():
		fmt.Fprintln(out.Stdout, alreadyApproved(name, line))
		return nil
	}
	e.Lines = []string{added(name, line, cs.Status.Held.Approve)}
	if err := files.Save(ctx, printer(out), e); err != nil {
		return err
	}
	if (repository.Git{Dir: filepath.Dir(name)}).IsUntracked(ctx, filepath.Base(name)) {
		fmt.Fprintf(out.Notes, "note: git does not know %s: run git add %s\n", name, name)
	}
	return nil
}

func printer(out output.Streams) func(line string) {
	return func(line string) { fmt.Fprintln(out.Stdout, line) }
}

func added(name string, line int, entries []string) string {
	return fmt.Sprintf("%s:%d: added %s", name, line, strings.Join(entries, ", "))
}

func alreadyApproved(name string, line int) string {
	return fmt.Sprintf("%s:%d: the file has the lines already: commit it, and let Flux apply it", name, line)
}

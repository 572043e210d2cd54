// SPDX-License-Identifier: Apache-2.0

// Package crdcheck checks objects and catalogs against the CustomResourceDefinitions of --crds, and has the flags of
// the rules. It must not know what a verb does with the findings.
package crdcheck

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/apis/kustomize"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/crds"
	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/cmd/winnow/input"
	"github.com/winnow-dev/winnow/cmd/winnow/oci"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/patching"
)

// OpenDefinitions reads the CustomResourceDefinitions of --crds from directories, files and artifacts
// in registries.
func OpenDefinitions(ctx context.Context, places []string, access *flags.Access) (*crds.Set, error) {
	set := &crds.Set{}
	for _, where := range places {
		before := set.Len()
		if err := loadDefinitions(ctx, set, where, access); err != nil {
			return nil, fmt.Errorf("reading --crds: %w", err)
		}
		if set.Len() == before {
			return nil, fmt.Errorf("reading --crds: %s holds no *.yaml file with a CustomResourceDefinition", where)
		}
	}
	return set, nil
}

func loadDefinitions(ctx context.Context, set *crds.Set, where string, access *flags.Access) error {
	if strings.HasPrefix(where, oci.Scheme) {
		opened, err := input.OpenCatalog(where, v1alpha1.FormatApplications, access)
		if err != nil {
			return err
		}
		files, err := opened.Files(ctx, archive.Limits{}, render.CatalogLocation{})
		if refused, ok := errors.AsType[*render.Error](err); ok && errors.Unwrap(refused.Err) != nil {
			err = errors.Unwrap(refused.Err) // without the context "not a catalog": definitions need not be one
		}
		if err != nil {
			return fmt.Errorf("%s: %w", where, err)
		}
		return set.Load(ctx, where, files.FS())
	}
	info, err := os.Stat(where)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		dir, name := filepath.Split(where)
		return set.LoadFile(filepath.ToSlash(dir), os.DirFS(filepath.Clean(dir)), name)
	}
	// os.Root keeps symbolic links from leading out of the directory.
	root, err := os.OpenRoot(where)
	if err != nil {
		return err
	}
	defer root.Close()
	return set.Load(ctx, where, root.FS())
}

// CheckObjects checks the objects in the stream, and warns of kinds without a definition in the set. It
// returns all findings in one *output.FindingError, with the patches that may have changed the object.
func CheckObjects(ctx context.Context, set *crds.Set, stream []byte, patches []kustomize.Patch, stderr io.Writer) error {
	result, err := set.Check(ctx, stream)
	if err != nil {
		return fmt.Errorf("checking the objects: %w", err)
	}
	kinds := slices.Sorted(maps.Keys(result.Unchecked))
	if result.Checked == 0 && len(kinds) > 0 {
		return fmt.Errorf("nothing was checked: --crds has no definition of %s", plaintext.Line(strings.Join(kinds, ", ")))
	}
	for _, kind := range kinds {
		fmt.Fprintf(stderr, "warning: --crds has no definition of %s, not checked: %s\n", plaintext.Line(kind),
			plaintext.Line(excerpt.Names(result.Unchecked[kind], maxUnchecked)))
	}
	var findings []error // which output.PrintError prints one a line
	for _, finding := range result.Findings {
		kind, name, _ := strings.Cut(finding.Object, "/")
		patched := ""
		if touching := patching.Touching(patches, kind, path.Base(name)); len(touching) > 0 {
			patched = " (" + patching.Fields(touching) + " may change this)"
		}
		findings = append(findings, errors.New(plaintext.Line(finding.String()+patched)))
	}
	if len(findings) > 0 {
		return output.Finding(fmt.Errorf("checking against --crds: %w", utilerrors.NewAggregate(findings)))
	}
	return nil
}

// maxUnchecked bounds the number of object names in a warning.
const maxUnchecked = 20

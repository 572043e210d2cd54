// SPDX-License-Identifier: Apache-2.0

package input

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/cmd/winnow/files"
	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/cmd/winnow/oci"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/selectionfile"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/selection"
)

// locateSources returns the catalogs of all sources of a selection, in the order of the spec, as the OCIRepositories
// in the files name them. Its errors name every source without one.
func locateSources(ctx context.Context, cs *selectionfile.Selection, files []files.Input) ([]documents.Location, error) {
	beside, placed := Beside(ctx, cs, files)
	var failures []error
	all := make([]documents.Location, len(cs.Spec.Sources))
	for i, ref := range cs.Spec.Sources {
		var err error
		if all[i], err = beside.Locate(placed, ref); err != nil {
			failures = append(failures, fmt.Errorf("%s: %w; %s", cs.Place(fmt.Sprintf("spec.sources[%d]", i)), err, sourceAdvice(cs, i, len(files) == 1, err)))
		}
	}
	return all, errors.Join(failures...)
}

// Beside returns what the files of a selection have, and the selection with its place among it.
func Beside(ctx context.Context, cs *selectionfile.Selection, inputs []files.Input) (*documents.Set, documents.Selection) {
	read := each.Map(inputs, func(in files.Input) documents.File { return documents.File{Path: in.Name, Content: in.Content} })
	placed := documents.Selection{CatalogSelection: cs.CatalogSelection, Origin: documents.Origin{File: filepath.ToSlash(cs.File())}}
	return documents.ReadFiles(ctx, read), placed
}

// sourceAdvice returns what to do about a source without a catalog.
func sourceAdvice(cs *selectionfile.Selection, i int, alone bool, err error) string {
	name := ""
	if len(cs.Spec.Sources) > 1 {
		name = cs.Spec.Sources[i].Name + "="
	}
	advice := fmt.Sprintf("pass %s %sCATALOG", flags.SourceFlag, name)
	if _, missing := errors.AsType[*documents.NoDocumentError](err); alone && missing {
		advice += ", or the directory of both by -f"
	}
	return advice
}

// openLocated loads the catalogs at the locations, after a note on each: they come from a file, and are contacted
// with the credentials of the user.
func openLocated(ctx context.Context, refs []v1alpha1.SourceReference, located []documents.Location, access *flags.Access, notes io.Writer) ([]selection.Source, error) {
	accesses := make([]*flags.Access, len(refs))
	for i := range located {
		at := &located[i]
		accesses[i] = access
		if at.PlainHTTP {
			accesses[i] = access.Allowing(HostOf(at.Address))
		}
		if err := resolveTag(ctx, at, accesses[i]); err != nil {
			return nil, fmt.Errorf("source %s: %s of %s: %w", refs[i].Name, at.Address, at.Document, err)
		}
	}
	for i, at := range located {
		output.PrintNote(notes, fmt.Sprintf("note: using %s of %s in %s for the source %s", at.Address, at.Document, at.File, refs[i].Name))
		for _, note := range at.Notes {
			output.PrintNote(notes, "note: "+at.Document+": "+note)
		}
	}
	sources := make([]selection.Source, len(refs))
	for i, at := range located {
		source, err := OpenSource(ctx, at.Address, refs[i], accesses[i])
		if err != nil {
			return nil, fmt.Errorf("source %s: %w", refs[i].Name, err)
		}
		source.Name = refs[i].Name
		sources[i] = source
	}
	return sources, nil
}

// resolveTag looks up the tag that a range of versions stands for.
func resolveTag(ctx context.Context, at *documents.Location, access *flags.Access) error {
	if at.SemVer == "" {
		return nil
	}
	repository, err := artifact{where: at.Address, access: access}.connect(ctx)
	if err != nil {
		return err
	}
	tag, err := repository.Highest(ctx, at.SemVer, at.SemverFilter)
	if err != nil {
		return err
	}
	at.Address += ":" + tag
	at.Notes = append(at.Notes, fmt.Sprintf("the highest version in %s is now %s", at.SemVer, tag))
	return nil
}

// PullRendered pulls a rendered artifact.
func PullRendered(ctx context.Context, address string, access *flags.Access) (render.Artifact, error) {
	repository, err := artifact{where: address, access: access}.connect(ctx)
	if err != nil {
		return render.Artifact{}, fmt.Errorf("%s: %w", address, err)
	}
	pulled, err := repository.PullRendered(ctx)
	if err != nil {
		return pulled, fmt.Errorf("pulling %s: %w", address, err)
	}
	return pulled, nil
}

// HostOf returns the host of the address of a catalog, or nothing for an invalid one.
func HostOf(address string) string {
	reference, err := oci.ParseReference(address)
	if err != nil {
		return ""
	}
	return reference.Registry
}

package render

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/render/tree"
)

// ContentPattern matches the paths of the files of contents in an artifact.
const ContentPattern = catalog.PackagesDir + "/*/catalog.*"

// byContent separates the selected applications that are objects from those that are contents, in their order.
func byContent(selected []selection.Decision) (objects, contents []selection.Decision) {
	for _, d := range selected {
		if d.Application.IsObject() {
			objects = append(objects, d)
		} else {
			contents = append(contents, d)
		}
	}
	return objects, contents
}

// contentDefinitions returns what the safeguards compare of contents.
func contentDefinitions(contents []selection.Decision) []safeguard.Definition {
	var all []safeguard.Definition
	for _, d := range contents {
		all = append(all, ContentDefinition(d))
	}
	return all
}

// ContentDefinition returns what the safeguards compare of a selected content.
func ContentDefinition(d selection.Decision) safeguard.Definition {
	a := d.Application
	defined := safeguard.Definition{APIVersion: a.APIVersion, Kind: a.Kind, Name: a.Name, Source: d.Source, Versions: d.Versions}
	if of := catalog.PackageOf(d.Kept); of != nil {
		defined.Package = safeguard.NewPackage(of)
	}
	return defined
}

// addContents adds the files of contents to a tree. No kustomization.yaml names them.
func addContents(files *tree.Tree, contents []selection.Decision) error {
	merged := map[string]*bytes.Buffer{}
	var paths []string
	for _, d := range contents {
		for _, file := range d.Kept.Files() {
			into := merged[file.Path]
			if into == nil {
				into = bytes.NewBuffer(bytes.Clone(file.Head))
				merged[file.Path] = into
				paths = append(paths, file.Path)
			}
			into.Write(file.Data)
		}
	}
	for _, path := range paths {
		if err := files.Add(path, merged[path].Bytes()); err != nil {
			return fmt.Errorf("assembling the artifact: %w", err)
		}
	}
	return nil
}

// allMirrored returns an error for what has no mirror, where the options require one.
func allMirrored(documents []document, contents []selection.Decision, opts Options) error {
	if !opts.RequireMirrors {
		return nil
	}
	return errors.Join(unmirrored(documents), unmirrorable(contents))
}

// unmirrorable refuses contents where every address has to have a mirror: mirrors do not change their bytes.
func unmirrorable(contents []selection.Decision) error {
	var found []error
	for _, d := range contents {
		found = append(found, fmt.Errorf("application %s: mirrors do not rewrite what is no object of Kubernetes: configure a mirror of images in the cluster, and leave out requireMirrors",
			d.Application.Name))
	}
	if len(found) == 0 {
		return nil
	}
	return &Error{Code: v1alpha1.InvalidSpecReason, Field: "spec.requireMirrors", Err: bounded(found)}
}

// readPackages reads the packages of operators in an artifact.
func readPackages(ctx context.Context, files *tree.Tree) ([]safeguard.Definition, error) {
	below := func(path string) (string, bool) { return strings.CutPrefix(path, catalog.PackagesDir+"/") }
	packages, err := copied(files, below, func(string) bool { return true })
	if err != nil || packages.Len() == 0 {
		return nil, err
	}
	loaded, err := catalog.FileBased{Named: true}.Load(ctx, packages.FS())
	if err != nil {
		return nil, fmt.Errorf("reading the artifact: %w", err)
	}
	var all []selection.Decision
	for _, a := range loaded.Applications {
		all = append(all, selection.Decision{Application: a, Versions: a.Versions, Kept: a.Content})
	}
	return contentDefinitions(all), nil
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/selectionfile"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// readSelection reads the CatalogSelection from a place that may contain other documents, as files of
// GitOps repositories do: a file, a directory, or "-" for standard input. Of several, it returns the one with
// the name. It returns a *render.Error if the API server or the controller would refuse any CatalogSelection
// there: Flux applies all of a file or nothing.
func readSelection(ctx context.Context, place, name string, stdin io.Reader) (*v1alpha1.CatalogSelection, error) {
	found, _, err := placeSelection(ctx, place, name, stdin)
	if err != nil {
		return nil, err
	}
	return found.CatalogSelection, nil
}

// placeSelection reads the CatalogSelection as readSelection does, with the lines of its fields, and returns all
// files of the place as well.
func placeSelection(ctx context.Context, place, name string, stdin io.Reader) (*selectionfile.Selection, []inputFile, error) {
	inputs, err := readInputs(ctx, place, stdin)
	if err != nil {
		return nil, nil, err
	}
	var found []*selectionfile.Selection
	for _, m := range inputs {
		more, err := selectionfile.Parse(ctx, m.name, m.content)
		if err != nil {
			return nil, nil, fmt.Errorf("%s%w", unbuilt(err, inputs, m.name+": "), err)
		}
		found = append(found, more...)
	}
	cs, err := pick(found, name)
	if kinds := kindsIn(inputs); len(found) == 0 && len(kinds) > 0 {
		err = fmt.Errorf("%w, only %s", err, excerpt.Names(kinds, maxKinds))
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s%w", unbuilt(err, inputs, label(place)+": "), err)
	}
	return cs, inputs, nil
}

// maxKinds are named of the documents of a file without a CatalogSelection.
const maxKinds = 5

var kindPattern = regexp.MustCompile(`(?m)^kind:[ \t]*([A-Za-z]+)[ \t]*$`)

// kindsIn returns the kinds of the documents of files of YAML, each once.
func kindsIn(inputs []inputFile) (kinds []string) {
	for _, m := range inputs {
		for _, match := range kindPattern.FindAllSubmatch(m.content, -1) {
			if kind := string(match[1]); !slices.Contains(kinds, kind) {
				kinds = append(kinds, kind)
			}
		}
	}
	return kinds
}

// unbuilt returns what an error begins with: before, and a hint if files for kustomize were read as they are, and what is
// missing may be in others.
func unbuilt(err error, inputs []inputFile, before string) string {
	var invalid *selectionfile.InvalidError
	if errors.As(err, &invalid) && !strings.Contains(err.Error(), "Required value") {
		return before
	}
	for _, m := range inputs {
		dir, base := filepath.Split(m.name)
		if base == "kustomization.yaml" || base == "kustomization.yml" {
			return fmt.Sprintf("%s is not built here, so pass the output of kubectl kustomize %s by -f -; %s", m.name, filepath.Clean(dir), before)
		}
	}
	return before
}

// label names the file of -f in messages.
func label(file string) string {
	if file == "-" {
		return "standard input"
	}
	return file
}

// pick returns the only CatalogSelection with the name, or the only one if name is empty.
func pick(found []*selectionfile.Selection, name string) (*selectionfile.Selection, error) {
	var names, files []string
	var matching []*selectionfile.Selection
	for _, cs := range found {
		if !slices.Contains(names, cs.Name) {
			names = append(names, cs.Name)
		}
		if name == "" || cs.Name == name {
			matching = append(matching, cs)
			files = append(files, cs.File())
		}
	}
	switch {
	case len(found) == 0:
		return nil, fmt.Errorf("no document of kind %s in %s", v1alpha1.CatalogSelectionKind, v1alpha1.GroupVersion)
	case len(matching) == 0:
		return nil, fmt.Errorf("no CatalogSelection %q; there are %s", name, strings.Join(names, ", "))
	case len(matching) > 1 && (name != "" || len(names) == 1):
		return nil, fmt.Errorf("several CatalogSelections %s, in %s: pass a file with one of them", matching[0].Name, strings.Join(files, ", "))
	case len(matching) > 1:
		return nil, fmt.Errorf("several CatalogSelections (%s): pick one with --name", strings.Join(names, ", "))
	}
	return matching[0], nil
}

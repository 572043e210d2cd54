package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/selectionfile"
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
			return nil, nil, fmt.Errorf("%s: %w", m.name, err)
		}
		found = append(found, more...)
	}
	cs, err := pick(found, name)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", label(place), err)
	}
	return cs, inputs, nil
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

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/selectionfile"
)

// maxSelectionFile bounds the file of -f, in bytes.
const maxSelectionFile = 8 << 20

// readSelection reads the CatalogSelection from a file that may contain other documents, as files of
// GitOps repositories do; "-" is standard input. Of several, it returns the one with the name. It returns a
// *render.Error if the API server or the controller would refuse any CatalogSelection of the file: Flux applies
// all of a file or nothing.
func readSelection(ctx context.Context, file, name string, stdin io.Reader) (*v1alpha1.CatalogSelection, error) {
	found, err := placeSelection(ctx, file, name, stdin)
	if err != nil {
		return nil, err
	}
	return found.CatalogSelection, nil
}

// placeSelection reads the CatalogSelection as readSelection does, with the lines of its fields.
func placeSelection(ctx context.Context, file, name string, stdin io.Reader) (*selectionfile.Selection, error) {
	content, err := readFile(ctx, file, stdin)
	if err != nil {
		return nil, err
	}
	found, err := selectionfile.Parse(ctx, label(file), content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", label(file), err)
	}
	cs, err := pick(found, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", label(file), err)
	}
	return cs, nil
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
	var names []string
	var matching []*selectionfile.Selection
	for _, cs := range found {
		names = append(names, cs.Name)
		if name == "" || cs.Name == name {
			matching = append(matching, cs)
		}
	}
	switch {
	case len(found) == 0:
		return nil, fmt.Errorf("no document of kind %s in %s", v1alpha1.CatalogSelectionKind, v1alpha1.GroupVersion)
	case len(matching) == 0:
		return nil, fmt.Errorf("no CatalogSelection %q; there are %s", name, strings.Join(names, ", "))
	case len(matching) > 1:
		return nil, fmt.Errorf("several CatalogSelections (%s): pick one with --name", strings.Join(names, ", "))
	}
	return matching[0], nil
}

func readFile(ctx context.Context, file string, stdin io.Reader) ([]byte, error) {
	if file == "-" {
		// A read from a terminal does not end with the context.
		return await(ctx, func() ([]byte, error) { return readBounded(label(file), stdin) })
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readBounded(file, f)
}

func readBounded(name string, in io.Reader) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(in, maxSelectionFile+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	if len(content) > maxSelectionFile {
		return nil, fmt.Errorf("%s is larger than %d bytes", name, maxSelectionFile)
	}
	return content, nil
}

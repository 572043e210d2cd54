// SPDX-License-Identifier: Apache-2.0

package input

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/files"
	"github.com/winnow-dev/winnow/cmd/winnow/selectionfile"
	"github.com/winnow-dev/winnow/render/catalog/document"
	"github.com/winnow-dev/winnow/render/dialect"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// PlaceSelection reads the CatalogSelection, with the lines of its fields, from a place that may contain other documents,
// as files of GitOps repositories do: a file, a directory, or "-" for standard input. Of several, it returns the one with
// the name. It returns all files of the place as well, and a *render.Error if the API server or the controller would
// refuse any CatalogSelection there: Flux applies all of a file or nothing.
func PlaceSelection(ctx context.Context, place, name string, stdin io.Reader) (*selectionfile.Selection, []files.Input, error) {
	inputs, err := files.ReadInputs(ctx, place, stdin)
	if err != nil {
		return nil, nil, err
	}
	var found []*selectionfile.Selection
	for _, m := range inputs {
		more, err := selectionfile.Parse(ctx, m.Name, m.Content)
		if err != nil {
			return nil, nil, fmt.Errorf("%s%w", kustomizeHint(err, inputs, m.Name+": "), err)
		}
		found = append(found, more...)
	}
	cs, err := pick(found, name)
	kinds := kindsIn(inputs)
	switch {
	case err == nil:
		return cs, inputs, nil
	case len(found) > 0:
		err = fmt.Errorf("%s: %w", files.Label(place), err)
		if changed := Unapplied(inputs); changed != "" {
			err = fmt.Errorf("%w; %s", err, changed)
		}
		return nil, nil, err
	case len(kinds) > 0:
		err = fmt.Errorf("%w, only %s", err, excerpt.Names(kinds, maxKinds))
	}
	return nil, nil, fmt.Errorf("%s%w", kustomizeHint(err, inputs, files.Label(place)+": "), err)
}

// maxKinds are named of the documents of a file without a CatalogSelection.
const maxKinds = 5

var (
	kindPattern       = regexp.MustCompile(`(?m)^kind:[ \t]*([A-Za-z]+)[ \t]*$`)
	apiVersionPattern = regexp.MustCompile(`(?m)^apiVersion:[ \t]*(\S+)[ \t]*$`)
)

// kindsIn returns the kinds of the documents of files of YAML, each once; a CatalogSelection with its apiVersion, because
// it is another one.
func kindsIn(inputs []files.Input) (kinds []string) {
	for _, m := range inputs {
		for _, piece := range document.Split(m.Content) {
			match := kindPattern.FindSubmatch(piece.Data)
			if match == nil {
				continue
			}
			kind := string(match[1])
			if version := apiVersionPattern.FindSubmatch(piece.Data); kind == v1alpha1.CatalogSelectionKind && version != nil {
				kind += " in " + string(version[1])
			}
			kinds = each.Union(kinds, kind)
		}
	}
	return kinds
}

// kustomizeHint returns what an error begins with: before, and a hint if files for kustomize were read as they are, and what is
// missing may be in others.
func kustomizeHint(err error, inputs []files.Input, before string) string {
	if _, invalid := errors.AsType[*selectionfile.InvalidError](err); invalid && !strings.Contains(err.Error(), "Required value") {
		return before
	}
	for _, m := range inputs {
		dir, base := filepath.Split(m.Name)
		if base == "kustomization.yaml" || base == "kustomization.yml" {
			return fmt.Sprintf("%s is not built here, so pass the output of kubectl kustomize %s using -f -; %s", m.Name, filepath.Clean(dir), before)
		}
	}
	return before
}

// Unapplied returns a sentence on the kustomization.yaml among files that were read as they are, where it changes the
// objects in them; empty without one.
func Unapplied(inputs []files.Input) string {
	harmless := []string{
		"apiVersion", "kind", "metadata", "resources", "bases", "namespace", "configMapGenerator", "secretGenerator", "generatorOptions",
		"labels", "commonLabels", "commonAnnotations", "buildMetadata", "sortOptions", "crds", "openapi",
	}
	for _, m := range inputs {
		dir, base := filepath.Split(m.Name)
		var fields map[string]any
		if base != "kustomization.yaml" && base != "kustomization.yml" || dialect.Unmarshal(m.Content, &fields) != nil {
			continue
		}
		found := slices.DeleteFunc(slices.Sorted(maps.Keys(fields)), func(name string) bool { return slices.Contains(harmless, name) })
		if len(found) > 0 {
			return fmt.Sprintf("%s has %s, and is not built here: pass the output of kubectl kustomize %s using -f -", m.Name, excerpt.Names(found, maxKinds), filepath.Clean(dir))
		}
	}
	return ""
}

// pick returns the only CatalogSelection with the name, or the only one if name is empty.
func pick(found []*selectionfile.Selection, name string) (*selectionfile.Selection, error) {
	var names, files []string
	var matching []*selectionfile.Selection
	for _, cs := range found {
		names = each.Union(names, cs.Name)
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

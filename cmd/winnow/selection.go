package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// maxSelectionFile bounds the file of -f, in bytes.
const maxSelectionFile = 8 << 20

// readSelection reads the CatalogSelection from a file that may hold other documents beside
// it, as GitOps repositories have them; "-" is standard input. Of several, name picks one.
func readSelection(file, name string, stdin io.Reader) (*v1alpha1.CatalogSelection, error) {
	content, err := readFile(file, stdin)
	if err != nil {
		return nil, err
	}
	found, err := parseSelections(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var names []string
	var matching []*v1alpha1.CatalogSelection
	for _, cs := range found {
		names = append(names, cs.Name)
		if name == "" || cs.Name == name {
			matching = append(matching, cs)
		}
	}
	switch {
	case len(found) == 0:
		return nil, fmt.Errorf("%s: no document of kind %s in %s", file, v1alpha1.CatalogSelectionKind, v1alpha1.GroupVersion)
	case len(matching) == 0:
		return nil, fmt.Errorf("%s: no CatalogSelection %q; there are %s", file, name, strings.Join(names, ", "))
	case len(matching) > 1:
		return nil, fmt.Errorf("%s: several CatalogSelections (%s): pick one with --name", file, strings.Join(names, ", "))
	}
	return matching[0], nil
}

func readFile(file string, stdin io.Reader) ([]byte, error) {
	in := stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	content, err := io.ReadAll(io.LimitReader(in, maxSelectionFile+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	if len(content) > maxSelectionFile {
		return nil, fmt.Errorf("%s: larger than %d bytes", file, maxSelectionFile)
	}
	return content, nil
}

func parseSelections(content []byte) ([]*v1alpha1.CatalogSelection, error) {
	var found []*v1alpha1.CatalogSelection
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for i := 1; ; i++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", i, err)
		}
		cs, err := parseSelection(document)
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", i, err)
		}
		if cs != nil {
			found = append(found, cs)
		}
	}
}

// parseSelection returns nil for a document of another kind. A field that the API does not
// have is an error, as it is for the API server.
func parseSelection(document []byte) (*v1alpha1.CatalogSelection, error) {
	var head struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if err := yaml.Unmarshal(document, &head); err != nil {
		return nil, err
	}
	group, _, _ := strings.Cut(head.APIVersion, "/")
	if group != v1alpha1.GroupVersion.Group || head.Kind != v1alpha1.CatalogSelectionKind {
		return nil, nil
	}
	if head.APIVersion != v1alpha1.GroupVersion.String() {
		return nil, fmt.Errorf("apiVersion %s is not known: use %s", head.APIVersion, v1alpha1.GroupVersion)
	}
	cs := &v1alpha1.CatalogSelection{}
	if err := yaml.UnmarshalStrict(document, cs); err != nil {
		return nil, fmt.Errorf("CatalogSelection: %w", err)
	}
	return cs, nil
}

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
)

// maxSelectionFile bounds the file of -f, in bytes.
const maxSelectionFile = 8 << 20

// readSelection reads the CatalogSelection from a file that may hold other documents beside
// it, as GitOps repositories have them; "-" is standard input. Of several, name picks one. A
// CatalogSelection that the API server would not decode is a *render.Error.
func readSelection(ctx context.Context, file, name string, stdin io.Reader) (*v1alpha1.CatalogSelection, error) {
	content, err := readFile(ctx, file, stdin)
	if err != nil {
		return nil, err
	}
	found, err := parseSelections(content)
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

// pick returns the one CatalogSelection, or the one with the name if there is one.
func pick(found []*v1alpha1.CatalogSelection, name string) (*v1alpha1.CatalogSelection, error) {
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
		// Nothing else ends the wait for somebody who types.
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

// parseSelections returns the CatalogSelections among the documents. What is wrong with a
// document is a *render.Error.
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
			return nil, &render.Error{Reason: v1alpha1.InvalidSpecReason, Err: fmt.Errorf("document %d: %w", i, err)}
		}
		if cs != nil {
			found = append(found, cs)
		}
	}
}

// parseSelection returns nil for a document of another kind.
func parseSelection(document []byte) (*v1alpha1.CatalogSelection, error) {
	var head metav1.TypeMeta
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
	return decodeSelection(document)
}

// decodeSelection decodes as the API server does for kubectl: a field that the API does not
// have is an error, and all of them are reported.
func decodeSelection(document []byte) (*v1alpha1.CatalogSelection, error) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	decoder := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme, scheme,
		json.SerializerOptions{Yaml: true, Strict: true})
	cs := &v1alpha1.CatalogSelection{}
	if _, _, err := decoder.Decode(document, nil, cs); err != nil {
		return nil, err
	}
	return cs, nil
}

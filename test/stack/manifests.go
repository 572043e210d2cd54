// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// parseManifests returns the objects of a stream of YAML documents, and those inside of lists. It skips
// empty documents.
func parseManifests(manifests []byte) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(manifests)))
	for number := 1; ; number++ {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		var parsed []*unstructured.Unstructured
		if err == nil {
			parsed, err = parseDocument(document)
		}
		if err != nil {
			return nil, fmt.Errorf("reading document %d: %w", number, err)
		}
		objects = append(objects, parsed...)
	}
}

func parseDocument(document []byte) ([]*unstructured.Unstructured, error) {
	var content map[string]any
	if err := yaml.UnmarshalStrict(document, &content); err != nil {
		return nil, err
	}
	if len(content) == 0 {
		return nil, nil
	}
	object := &unstructured.Unstructured{Object: content}
	if !object.IsList() {
		if object.GetAPIVersion() == "" || object.GetKind() == "" || object.GetName() == "" {
			return nil, errors.New("apiVersion, kind or metadata.name is missing")
		}
		return []*unstructured.Unstructured{object}, nil
	}
	var items []*unstructured.Unstructured
	err := object.EachListItem(func(item runtime.Object) error {
		nested, ok := item.(*unstructured.Unstructured)
		if !ok {
			return fmt.Errorf("unexpected list item %T", item)
		}
		items = append(items, nested)
		return nil
	})
	return items, err
}

// readManifests returns the YAML of a file, or of all files in a directory and below it, in lexical order.
func readManifests(path string) ([]byte, error) {
	var manifests bytes.Buffer
	err := filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
		extension := filepath.Ext(file)
		isManifest := extension == ".yaml" || extension == ".yml"
		if err != nil || entry.IsDir() || file != path && !isManifest {
			return err
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		manifests.Write(content)
		manifests.WriteString("\n---\n")
		return nil
	})
	return manifests.Bytes(), err
}

// inApplyOrder sorts CRDs first, then namespaces, because others need them. The rest keeps its order.
func inApplyOrder(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	rank := func(object *unstructured.Unstructured) int {
		switch object.GetKind() {
		case "CustomResourceDefinition":
			return 0
		case "Namespace":
			return 1
		default:
			return 2
		}
	}
	sorted := slices.Clone(objects)
	slices.SortStableFunc(sorted, func(a, b *unstructured.Unstructured) int { return rank(a) - rank(b) })
	return sorted
}

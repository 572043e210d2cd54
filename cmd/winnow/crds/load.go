// SPDX-License-Identifier: Apache-2.0

package crds

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/winnow-dev/winnow/render/bounded"
	"github.com/winnow-dev/winnow/render/dialect"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// Bounds of Load. All definitions of a large platform have some megabytes.
const (
	maxFiles     = 10_000
	maxFileBytes = 8 << 20
	maxBytes     = 64 << 20
)

// Load adds the CustomResourceDefinitions in the YAML files below fsys. It skips hidden directories
// and files, and documents of other kinds. Errors name the file, below dir. It returns an error for an
// invalid definition: without it, its objects would not be checked.
func (s *Set) Load(ctx context.Context, dir string, fsys fs.FS) error {
	return fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case name != "." && strings.HasPrefix(entry.Name(), ".") && entry.IsDir():
			return fs.SkipDir
		case entry.IsDir() || strings.HasPrefix(entry.Name(), ".") || !yamlnode.IsYAML(name):
			return nil
		}
		return s.LoadFile(dir, fsys, name)
	})
}

// LoadFile adds the definitions in one file, whatever its name.
func (s *Set) LoadFile(dir string, fsys fs.FS, name string) error {
	file := path.Join(dir, name)
	content, err := s.read(fsys, name)
	if err == nil {
		err = s.add(file, content)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// read reads a file within the limits.
func (s *Set) read(fsys fs.FS, name string) ([]byte, error) {
	if s.files++; s.files > maxFiles {
		return nil, fmt.Errorf("more than %d files", maxFiles)
	}
	content, err := bounded.ReadFile(fsys, name, maxFileBytes)
	s.bytes += len(content)
	switch {
	case errors.Is(err, bounded.ErrNotRegular):
		return nil, errors.New("not a regular file")
	case errors.Is(err, bounded.ErrTooLarge):
		return nil, fmt.Errorf("larger than %d bytes", maxFileBytes)
	case err != nil:
		return nil, err
	case s.bytes > maxBytes:
		return nil, fmt.Errorf("more than %d bytes in all files", maxBytes)
	}
	return content, nil
}

// add adds the definitions among the documents of a file.
func (s *Set) add(file string, content []byte) error {
	i := 0
	for document, err := range dialect.Documents(content) {
		i++
		if err == nil {
			err = s.addDocument(file, document)
		}
		if err != nil {
			return fmt.Errorf("document %d: %w", i, err)
		}
	}
	return nil
}

// addDocument adds a definition, or a list of definitions, as kubectl get prints it.
func (s *Set) addDocument(file string, document []byte) error {
	var head struct {
		metav1.TypeMeta `json:",inline"`
		Items           []runtime.RawExtension `json:"items"`
	}
	if err := dialect.Unmarshal(document, &head.TypeMeta); err != nil {
		return err
	}
	switch {
	case head.APIVersion == "v1" && head.Kind == "List":
		if err := dialect.Unmarshal(document, &head); err != nil {
			return err
		}
		for i, item := range head.Items {
			if err := s.addDocument(file, item.Raw); err != nil {
				return fmt.Errorf("item %d: %w", i+1, err)
			}
		}
		return nil
	case head.Kind != "CustomResourceDefinition":
		return nil
	}
	if group, _, _ := strings.Cut(head.APIVersion, "/"); group != apiextensionsv1.GroupName {
		return nil
	}
	if head.APIVersion != apiextensionsv1.SchemeGroupVersion.String() {
		return fmt.Errorf("apiVersion %s of a CustomResourceDefinition is not known: want %s", head.APIVersion, apiextensionsv1.SchemeGroupVersion)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := dialect.Unmarshal(document, crd); err != nil {
		return err
	}
	return s.define(file, crd)
}

// SPDX-License-Identifier: Apache-2.0

package removedapis

import (
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/winnow-dev/winnow/render/yamlnode"
)

// Object is one of an API that Kubernetes does not serve any more.
type Object struct {
	API

	Kind, Name string
}

// maxValues bounds the values of a manifest that is read, in number.
const maxValues = 2_000_000

// Objects returns the objects of a manifest, and of the lists in it, that a version of Kubernetes does not serve. The error says why
// the manifest cannot be read to its end.
func Objects(manifest, kubernetes string) (all []Object, err error) {
	parsed, err := version.ParseGeneric(kubernetes)
	if err != nil {
		return nil, fmt.Errorf("the version of Kubernetes: %w", err)
	}
	if yamlnode.MostValues([]byte(manifest)) > maxValues {
		return nil, fmt.Errorf("it may have more than %d values", maxValues)
	}
	for document, err := range yamlnode.Documents([]byte(manifest)) {
		if err != nil {
			return all, err
		}
		content := document.Content[0]
		if _, bounded := yamlnode.Check(content, yamlnode.MaxAliased, func(int, string, ...any) {}); !bounded {
			return all, errors.New("it is nested too deep, too large, or its aliases are")
		}
		objects := []*yaml.Node{content}
		if items := yamlnode.Lookup(content, "items"); items != nil && items.Kind == yaml.SequenceNode {
			objects = append(objects, items.Content...)
		}
		for _, o := range objects {
			o = yamlnode.Resolve(o)
			apiVersion, kind := yamlnode.TextAt(o, "apiVersion"), yamlnode.TextAt(o, "kind")
			if api := find(apiVersion, kind, parsed); api != nil {
				all = append(all, Object{*api, kind, yamlnode.TextAt(o, "metadata", "name")})
			}
		}
	}
	return all, nil
}

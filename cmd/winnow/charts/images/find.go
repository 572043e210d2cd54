// SPDX-License-Identifier: Apache-2.0

// Package images finds the images that rendered manifests refer to. It must not know charts nor mirrors.
package images

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/transform"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// Image is a reference in a manifest.
type Image struct {
	// Address in full, as container runtimes read it.
	Address string
	// Object that refers to it: kind, namespace and name. Path is the field, such as .spec.containers[0].image.
	Object, Path string
	// InText reports whether the field is no field for images, such as an argument of a program, a variable, or a file of a
	// ConfigMap, so that the reference may be another text.
	InText bool
}

// Repository returns an address without its tag and digest.
func Repository(address string) string {
	end := strings.LastIndexByte(address, '/') + 1
	if i := strings.IndexAny(address[end:], ":@"); i >= 0 {
		return address[:end+i]
	}
	return address
}

// maxValues bounds the values of a manifest that is read, in number.
const maxValues = 2_000_000

// Find returns the images of a manifest, in its order; none of CustomResourceDefinitions, whose images are examples. An error
// says why a manifest, or a document of it, cannot be searched; the images of the others are returned as well.
func Find(manifest string) (found []Image, err error) {
	if yamlnode.MostValues([]byte(manifest)) > maxValues {
		return nil, fmt.Errorf("it may have more than %d values", maxValues)
	}
	var problems []error
	for document, err := range yamlnode.Documents([]byte(manifest)) {
		if err != nil {
			return found, errors.Join(append(problems, err)...)
		}
		content := document.Content[0]
		kind, _ := yamlnode.Text(yamlnode.Written(content, "kind"))
		if kind == "CustomResourceDefinition" {
			continue
		}
		if _, bounded := yamlnode.Check(content, yamlnode.MaxAliased, func(int, string, ...any) {}); !bounded {
			problems = append(problems, errors.New("it is nested too deep, too large, or its aliases are"))
			continue
		}
		name := strings.Trim(yamlnode.TextAt(content, "metadata", "namespace")+"/"+yamlnode.TextAt(content, "metadata", "name"), "/")
		s := search{object: strings.TrimSpace(kind + " " + name)}
		s.node(yamlnode.Resolve(content), "")
		found = append(found, s.found...)
	}
	return found, errors.Join(problems...)
}

// search looks for images in one object.
type search struct {
	object string
	// path of the value: the keys and indexes above it. It is joined only for an image, because keys may be long.
	path  []string
	found []Image
}

// node looks for images in a value, which stands at a key; the key is empty in a list.
func (s *search) node(node *yaml.Node, key string) {
	switch node.Kind {
	case yaml.MappingNode:
		if key == imageKey && s.parts(node) {
			return
		}
		for _, entry := range yamlnode.Entries(node) {
			s.below(".", entry.Name, entry.Value, entry.Name)
		}
	case yaml.SequenceNode:
		for i, element := range node.Content {
			s.below("[", strconv.Itoa(i), yamlnode.Resolve(element), "")
		}
	case yaml.ScalarNode:
		if value, ok := yamlnode.Text(node); ok {
			s.text(value, key)
		}
	}
}

// below looks for images in a value at a key or an index, behind a mark that says which of both it is.
func (s *search) below(mark, name string, value *yaml.Node, key string) {
	s.path = append(s.path, mark, name)
	s.node(value, key)
	s.path = s.path[:len(s.path)-2]
}

// joined returns the path as text, cut where it is long.
func (s *search) joined() string {
	var joined strings.Builder
	for i := 0; i < len(s.path) && joined.Len() < maxPath; i += 2 {
		joined.WriteString(s.path[i] + excerpt.To(s.path[i+1], maxPath))
		if s.path[i] == "[" {
			joined.WriteByte(']')
		}
	}
	return joined.String()
}

// imageKey is the key of the image of a container, and of most custom resources.
const imageKey = "image"

// parts looks for an image in a mapping of its parts, as volumes and custom resources have.
func (s *search) parts(mapping *yaml.Node) bool {
	if reference := yamlnode.TextAt(mapping, "reference"); reference != "" {
		return s.add(reference, ".reference", true)
	}
	repository := yamlnode.TextAt(mapping, "repository")
	if repository == "" {
		return false
	}
	if registry := yamlnode.TextAt(mapping, "registry"); registry != "" {
		repository = strings.TrimSuffix(registry, "/") + "/" + repository
	}
	if tag := yamlnode.TextAt(mapping, "tag"); tag != "" {
		repository += ":" + tag
	}
	if digest := yamlnode.TextAt(mapping, "digest"); digest != "" {
		repository += "@" + digest
	}
	return s.add(repository, "", true)
}

// inLine finds the image in a line of a file of YAML.
var inLine = regexp.MustCompile(`^[ \t-]*["']?image["']?[ \t]*:[ \t]*["']?([^\s"'#]+)`)

const (
	// maxText bounds a text that is searched for lines, and maxReference one that may be a reference, in bytes.
	maxText      = 1 << 20
	maxReference = 512
	// maxFound bounds the images that are found in a text, in number.
	maxFound = 1000
	// maxPath bounds the path of an image, and a key in it, in bytes.
	maxPath = 1000
)

// text looks for images in a text.
func (s *search) text(value, key string) {
	switch {
	case key == imageKey:
		s.add(value, "", true)
	case strings.Contains(value, "\n"):
		before := len(s.found)
		for line := range strings.Lines(value[:min(len(value), maxText)]) {
			if match := inLine.FindStringSubmatch(line); match != nil {
				line = match[1]
			}
			if s.argument(line); len(s.found)-before == maxFound {
				return
			}
		}
	default:
		s.argument(value)
	}
}

// argument adds an image that stands alone, or behind an equals sign as in arguments of programs.
func (s *search) argument(value string) {
	if _, behind, isFlag := strings.Cut(value, "="); isFlag {
		value = behind
	}
	s.add(value, "", false)
}

// add adds an image, if the value is one. It stands at the path, or at a field below it. In a text, only a reference with its registry and a tag or a digest is.
func (s *search) add(value, field string, isField bool) bool {
	if len(value) > maxReference {
		return false
	}
	address, tagged, ok := transform.FullImage(strings.TrimSpace(value), isField)
	if !ok || !isField && !tagged {
		return false
	}
	s.found = append(s.found, Image{Address: address, Object: s.object, Path: s.joined() + field, InText: !isField})
	return true
}

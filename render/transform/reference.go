// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/yamledit"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// chartName is what charts are named. No command takes such a name for an option or for two arguments.
var chartName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/-]*$`)

// chartReference reads the source helm of a version.
func chartReference(helm *yaml.Node, r Reference) Reference {
	r.Chart, r.Version = printed(yamledit.Lookup(helm, "chartName")), printed(yamledit.Lookup(helm, "chartVersion"))
	if !chartName.MatchString(r.Chart) || r.Version == "" {
		r.Unknown = UnknownChart
	}
	return r
}

// gitReference reads the source git of a version.
func gitReference(git *yaml.Node, r Reference) Reference {
	ref := yamledit.Lookup(git, "ref")
	r.Tag, r.Branch, r.Commit = printed(yamledit.Lookup(ref, "tag")), printed(yamledit.Lookup(ref, "branch")), printed(yamledit.Lookup(ref, "commit"))
	return r
}

// imageReference completes the reference of an image by what stands beside it.
func imageReference(at key, r Reference) Reference {
	_, path, _ := strings.Cut(r.From, "/")
	tagged := strings.ContainsAny(template.ReplaceAllString(path, "x"), ":@")
	switch {
	case tagged:
	case isRegistryKey(at.name):
		r.Unknown = UnknownRepository
		return r
	case at.image && slices.Contains([]string{"image", "repository", "name"}, at.name):
		suffix := tagAndDigest(at.mapping)
		r.From, r.To, tagged = r.From+suffix, r.To+suffix, suffix != ""
	}
	switch {
	case strings.Contains(r.From, "{{"):
		r.Unknown = UnknownTemplate
	case !tagged:
		r.Unknown = UnknownTag
	}
	return r
}

func tagAndDigest(mapping *yaml.Node) (suffix string) {
	if tag := printed(yamledit.Lookup(mapping, "tag")); tag != "" {
		suffix = ":" + tag
	}
	if digest := printed(yamledit.Lookup(mapping, "digest")); digest != "" {
		suffix += "@" + digest
	}
	return suffix
}

// printed returns a scalar as a chart's template prints it: 1.10 without quotes is the number
// 1.1. It is empty for null and for what is not a scalar.
func printed(node *yaml.Node) string {
	if node == nil || node.Kind != yaml.ScalarNode || yamlnode.IsNull(node) {
		return ""
	}
	if tag := node.ShortTag(); tag != "!!int" && tag != "!!float" {
		return node.Value
	}
	var number any
	if node.Decode(&number) != nil {
		return node.Value
	}
	text, err := json.Marshal(number)
	if err != nil {
		return node.Value // infinity, for example
	}
	return string(text)
}

// key leads to a value: its name, and the mapping that it is in. Both are empty in a list.
type key struct {
	mapping *yaml.Node
	name    string
	// image is set where a value is an image, of Docker Hub if it names no host: below a key that ends in image or images,
	// the value itself, the items of a list, and the name in a mapping with a tag; and below repository. A name beside a
	// repository, or without a tag, is the end of an address that the chart joins.
	image bool
}

// newKey returns the key of a mapping, of an image or not.
func newKey(mapping *yaml.Node, name string, ofImage bool) key {
	lower := strings.TrimSuffix(strings.ToLower(name), "s")
	isName := ofImage && name == "name" && tagAndDigest(mapping) != "" && yamledit.Lookup(mapping, "repository") == nil
	return key{mapping, name, strings.HasSuffix(lower, "image") || name == "repository" || isName}
}

func isRegistryKey(name string) bool { return strings.HasSuffix(strings.ToLower(name), "registry") }

// SPDX-License-Identifier: Apache-2.0

package dialect

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// Values returns the document, with one child, that KKP, Helm 3 and helm-controller read of a text of values using
// sigs.k8s.io/yaml: the first one. It is nil if the text is empty or begins with an empty document. The document is bounded, and the
// nodes are as they are written, but for the keys that a merge key behind them replaces: these are left out. Of keys that are
// there twice, those readers take the last one, or any. Values refuses them, because the other one may have been meant.
func Values(text []byte) (*yaml.Node, error) {
	root, err := yamlnode.Head(text)
	if err != nil || root == nil {
		return nil, err
	}
	if err := yamlnode.ValidateLastWins(root.Content[0]); err != nil {
		for _, broken := range yamlnode.Documents(text) {
			if broken != nil {
				return nil, broken // as behind a template that is a mapping: the text is no YAML
			}
		}
		return nil, err
	}
	return root, readAsSigs(root)
}

// ValuesJSON returns what the readers of Values read as JSON, and the errors of Values and of sigs.k8s.io/yaml.
func ValuesJSON(text []byte) ([]byte, error) {
	if _, err := Values(text); err != nil {
		return nil, err
	}
	return JSON(text)
}

// yaml11 matches the booleans of YAML 1.1 that are texts in YAML 1.2.
var yaml11 = regexp.MustCompile(`^(?:[yYnN]|[yY]es|YES|[nN]o|NO|[oO]n|ON|[oO]ff|OFF)$`)

// IsBoolean reports whether a scalar is a boolean for sigs.k8s.io/yaml, and a text for kustomize.
func IsBoolean(node *yaml.Node) bool {
	return node.Kind == yaml.ScalarNode && node.Style == 0 && node.Tag == "!!str" && yaml11.MatchString(node.Value)
}

// Key returns a key, or a scalar where a string is expected, as sigs.k8s.io/yaml reads it; empty for what cannot be one.
func Key(key *yaml.Node) string {
	if key = yamlnode.Resolve(key); IsBoolean(key) {
		return strconv.FormatBool(slices.Contains([]string{"y", "yes", "on"}, strings.ToLower(key.Value)))
	}
	name, _ := yamlnode.KeyName(key)
	return name
}

// readAsSigs removes the entries of mappings that a merge key behind them replaces. It visits no node twice, but for the keys of
// what is merged.
func readAsSigs(node *yaml.Node) error {
	for _, child := range node.Content {
		if err := readAsSigs(child); err != nil {
			return err
		}
	}
	if node.Kind != yaml.MappingNode {
		return nil
	}
	written := keys{}
	for i := 0; i < len(node.Content); i += 2 {
		if err := written.add(node.Content[i], false); err != nil {
			return err
		}
	}
	replaced, err := overridden(node, written)
	if len(replaced) == 0 {
		return err
	}
	var kept []*yaml.Node
	for pair := range slices.Chunk(node.Content, 2) {
		if len(replaced) > 0 && pair[0] == replaced[0] { // they have the order of the mapping
			replaced = replaced[1:]
			continue
		}
		kept = append(kept, pair...)
	}
	node.Content = kept
	return nil
}

// keys has keys by what Key returns of them.
type keys map[string]*yaml.Node

// add adds a key. It returns an error for one that is there, unless it may be and is spelt alike: readers take 8 and "8" for two
// keys, and then keep any of their values, because both have one name in JSON.
func (k keys) add(key *yaml.Node, again bool) error {
	name := Key(key)
	former := k[name]
	if former == nil {
		k[name] = key
		return nil
	}
	a, b := yamlnode.Resolve(former), yamlnode.Resolve(key)
	if again && a.Value == b.Value && a.ShortTag() == b.ShortTag() && IsBoolean(a) == IsBoolean(b) {
		return nil
	}
	spelt := ""
	if a.Value != b.Value {
		spelt = " as " + excerpt.Quoted(a.Value)
	}
	return fmt.Errorf("line %d: it has the key %s twice, first in line %d%s", key.Line, excerpt.Quoted(name), former.Line, spelt)
}

// addMerged adds the keys that the value of a merge key has, and compares them with those that are written beside it.
func (k keys) addMerged(value *yaml.Node, written keys) error {
	for _, source := range yamlnode.Merged(value) {
		for pair := range slices.Chunk(yamlnode.Resolve(source).Content, 2) {
			if yamlnode.IsMerge(pair[0]) {
				if err := k.addMerged(pair[1], written); err != nil {
					return err
				}
				continue
			}
			if err := k.add(pair[0], true); err != nil {
				return err
			}
			if former := written[Key(pair[0])]; former != nil {
				if err := (keys{Key(former): former}).add(pair[0], true); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// overridden returns the keys of a mapping that a merge key behind them replaces for sigs.k8s.io/yaml. The error is one of merged
// keys that clash with each other or with those that are written.
func overridden(mapping *yaml.Node, written keys) (all []*yaml.Node, err error) {
	at := 0
	for at < len(mapping.Content) && !yamlnode.IsMerge(mapping.Content[at]) {
		at += 2
	}
	if at == len(mapping.Content) {
		return nil, nil
	}
	merged := keys{}
	if err := merged.addMerged(mapping.Content[at+1], written); err != nil {
		return nil, err
	}
	for pair := range slices.Chunk(mapping.Content[:at], 2) {
		if merged[Key(pair[0])] != nil {
			all = append(all, pair[0])
		}
	}
	return all, nil
}

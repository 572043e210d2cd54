// SPDX-License-Identifier: Apache-2.0

package configs

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/kyaml/fn/runtime/runtimeutil"

	"github.com/winnow-dev/winnow/render/dialect"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// FunctionKey is the annotation that holds the runtime of a config.
const FunctionKey = runtimeutil.FunctionAnnotationKey

// configLocation is where a config is: a document of a file, or of an element of a list in a kustomization.
type configLocation struct {
	File, Field    string
	Item, Document int
}

// Config is the config of a function.
type Config struct {
	configLocation

	Line                       int
	Group, Version, Kind, Name string
	// Root is its content, with the lines of the document.
	Root *yaml.Node
	// Kept is the runtime that it has; nil without one.
	Kept *runtimeutil.FunctionSpec
	// Recorded is the hash that a catalog supplied; empty for a runtime that no catalog supplied.
	Recorded string
	// Users are the layers that use it, in whose directories its function runs.
	Users []*Layer
}

// String returns the config's name for messages.
func (c *Config) String() string {
	return c.Kind + " of " + strings.TrimPrefix(c.Group+"/"+c.Version, "/")
}

// readConfig reads a document. It returns nil for a config of a function that is a part of kustomize.
func readConfig(document []byte) (*Config, error) {
	root, err := Parse(document)
	if err != nil {
		return nil, fmt.Errorf("is not readable: %w", err)
	}
	c := &Config{Line: root.Line, Root: root, Kind: yamlnode.TextAt(root, "kind")}
	apiVersion := yamlnode.TextAt(root, "apiVersion")
	switch {
	case apiVersion == "builtin":
		return nil, nil
	case c.Kind == "Composition" && yamlnode.Lookup(root, "modules") != nil:
		return nil, errors.New("is a Composition, " + noComposition)
	case apiVersion == "" || c.Kind == "":
		return nil, fmt.Errorf("has no apiVersion or no kind")
	case strings.HasSuffix(c.Kind, "List") && yamlnode.Lookup(root, "items") != nil:
		return nil, fmt.Errorf("is a %s: write each item as a document", excerpt.Quoted(c.Kind))
	}
	var ok bool
	if c.Group, c.Version, ok = strings.Cut(apiVersion, "/"); !ok {
		c.Group, c.Version = "", apiVersion
	}
	metadata := yamlnode.Lookup(root, "metadata")
	if name := yamlnode.Lookup(metadata, "name"); name != nil && !yamlnode.IsNull(name) {
		c.Name = name.Value // of any type, as kustomize reads it
	}
	if c.Kept, err = runtimeOf(metadata); err != nil {
		return nil, err
	}
	if c.Recorded, err = recordOf(metadata); err != nil {
		return nil, err
	}
	return c, compositionRuntime(root, c)
}

// runtimeOf returns the runtime that a config has, where kustomize looks for it; nil without one.
func runtimeOf(metadata *yaml.Node) (*runtimeutil.FunctionSpec, error) {
	annotations := yamlnode.Lookup(metadata, "annotations")
	for _, key := range []string{FunctionKey, "config.k8s.io/function"} {
		value := yamlnode.Lookup(annotations, key)
		text, isText := yamlnode.Text(value)
		switch {
		case text != "":
			return readRuntime(key, []byte(text))
		case value != nil && !isText && value.Value != "": // kustomize reads the text of it
			return nil, fmt.Errorf("has %s in the annotation %s: expected a string", yamlnode.Describe(value), key)
		}
	}
	if configFn := yamlnode.Lookup(metadata, "configFn"); configFn != nil && !yamlnode.IsNull(configFn) {
		text, err := yamlnode.Encode(yamlnode.Expand(configFn))
		if err != nil {
			return nil, err
		}
		return readRuntime("metadata.configFn", text)
	}
	if image := yamlnode.TextAt(annotations, "config.kubernetes.io/container"); image != "" {
		return &runtimeutil.FunctionSpec{Container: runtimeutil.ContainerSpec{Image: image}}, nil
	}
	return nil, nil
}

// readRuntime reads a runtime as kustomize does. What kustomize refuses, and what it skips silently, is an error.
func readRuntime(key string, text []byte) (*runtimeutil.FunctionSpec, error) {
	root, err := yamlnode.First(text)
	if err == nil && root != nil {
		err = yamlnode.Validate(root)
	}
	if err != nil {
		return nil, fmt.Errorf("has a runtime in %s that is not readable: %w", key, err)
	}
	spec := &runtimeutil.FunctionSpec{}
	if err := dialect.UnmarshalStrict(text, spec); err != nil {
		return nil, fmt.Errorf("has a runtime in %s that kustomize refuses: %w", key, err)
	}
	if spec.Container.Image == "" && spec.Exec.Path == "" {
		return nil, fmt.Errorf("has a runtime in %s with neither container.image nor exec.path: kustomize skips it silently", key)
	}
	return spec, nil
}

// compositionRuntime returns an error for a config with a runtime where a Composition has it: kustomize does not read that.
func compositionRuntime(root *yaml.Node, c *Config) error {
	field := yamlnode.Lookup(root, "runtime")
	if c.Kept != nil || field == nil {
		return nil
	}
	for _, name := range []string{"container", "exec", "starlark"} {
		if yamlnode.Lookup(field, name) != nil {
			return fmt.Errorf("has the field runtime.%s, as in a Composition, which kustomize does not read: write it into the annotation %s", name, FunctionKey)
		}
	}
	return nil
}

// DigestKey is the annotation that records what a catalog supplied: the digest of the image, or the hash of the
// program. Without it a runtime is one of the config's own. It allows nothing to run: only a catalog, which the user
// names, does.
const DigestKey = "catalog.winnow.dev/function-digest"

// DigestPrefix begins every digest and hash.
const DigestPrefix = "sha256:"

var digestPattern = regexp.MustCompile(`^sha256:[a-f0-9]{64}$`)

// recordOf returns the hash that a config has recorded; empty without one.
func recordOf(metadata *yaml.Node) (string, error) {
	value := yamlnode.Lookup(yamlnode.Lookup(metadata, "annotations"), DigestKey)
	if value == nil {
		return "", nil
	}
	text, _ := yamlnode.Text(value)
	if !digestPattern.MatchString(text) {
		return "", fmt.Errorf("has no digest in the annotation %s: remove the annotation, and resolve the config again", DigestKey)
	}
	return strings.TrimPrefix(text, DigestPrefix), nil
}

// SPDX-License-Identifier: Apache-2.0

package configs

import (
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/yamlnode"
)

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

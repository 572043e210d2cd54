// SPDX-License-Identifier: Apache-2.0

package documents

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/render/guard"
)

// hiding matches text that YAML spells in another way than its value: escapes, line breaks in words, base64, another encoding.
var hiding = regexp.MustCompile(`\\[uUx][0-9a-fA-F]|\\\r?\n|!\S*binary|\x00`)

// Mentions reports whether a value of content may have one of the words.
func Mentions(content []byte, words ...string) bool {
	return hiding.Match(content) || slices.ContainsFunc(words, func(word string) bool { return bytes.Contains(content, []byte(word)) })
}

// YAMLOf encodes a value that was decoded from YAML, or the error in its place.
func YAMLOf(value any) string { return textOf(yaml.Marshal(value)) }

// JSONOf encodes a value that was decoded from YAML, or the error in its place.
func JSONOf(value any) string { return textOf(json.Marshal(value)) }

func textOf(encoded []byte, err error) string {
	if err != nil {
		return err.Error()
	}
	return string(encoded)
}

// IsUntouched reports whether the annotations of an object keep Flux from updating it in the cluster.
func IsUntouched(o metav1.Object) bool {
	mode := o.GetAnnotations()[kustomizev1.GroupVersion.Group+"/ssa"]
	return guard.Untouched(o) || strings.EqualFold(mode, "Ignore") || strings.EqualFold(mode, "IfNotPresent")
}

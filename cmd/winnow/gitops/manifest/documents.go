// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"regexp"
	"slices"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/inputs"
	"github.com/winnow-dev/winnow/cmd/winnow/lists"
)

// Documents returns the objects of a file, without documents that cannot be parsed.
func Documents(content []byte) []*unstructured.Unstructured {
	if inputs.CheckAliases(content) != nil {
		return nil
	}
	var all []*unstructured.Unstructured
	for document, err := range lists.Documents(content) {
		if err != nil {
			return all
		}
		var object map[string]any
		if yaml.Unmarshal(document, &object) != nil || object == nil {
			continue
		}
		for _, one := range lists.Objects(object) {
			all = append(all, &unstructured.Unstructured{Object: one})
		}
	}
	return all
}

// hiding matches text that YAML spells in another way than its value: escapes, line breaks in words, base64, another encoding.
var hiding = regexp.MustCompile(`\\[uUx][0-9a-fA-F]|\\\r?\n|!\S*binary|\x00`)

// Mentions reports whether a value of content may have one of the words.
func Mentions(content []byte, words ...string) bool {
	return hiding.Match(content) || slices.ContainsFunc(words, func(word string) bool { return bytes.Contains(content, []byte(word)) })
}

// selectionPattern matches content that may lead to a CatalogSelection, directly or by another Kustomization, or by a chart of
// this repository: their API groups, and groups that are composed.
var selectionPattern = regexp.MustCompile(`catalog\.winnow\.dev/|kustomize\.toolkit\.fluxcd\.io/v|fluxcd\.controlplane\.io/` +
	`|apiVersion["']?\s*:\s*\S*[^\w./"'\s,}\]-]|/apiVersion`)

// MayMakeSelections reports whether content from which objects are made in the cluster has a group that matters.
func MayMakeSelections(content []byte) bool {
	return MayLeadToSelection(content) || Mentions(content, SourceGroup, v1alpha1.CatalogSelectionKind)
}

// MayLeadToSelection reports whether content may lead to a CatalogSelection, directly or by another Kustomization.
func MayLeadToSelection(content []byte) bool {
	charts := bytes.Contains(content, []byte(ReleaseGroup)) &&
		Mentions(content, sourcev1.GitRepositoryKind, sourcev1.BucketKind, sourcev1.ExternalArtifactKind, sourcev1.HelmChartKind)
	return charts || Mentions(content) || selectionPattern.Match(content)
}

// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"regexp"
	"slices"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/inputs"
	"github.com/winnow-dev/winnow/render/dialect"
)

// Documents returns the objects of a file, without documents that cannot be parsed.
func Documents(content []byte) []*unstructured.Unstructured {
	if inputs.CheckAliases(content) != nil {
		return nil
	}
	var all []*unstructured.Unstructured
	for document, err := range dialect.Documents(content) {
		if err != nil {
			return all
		}
		text, _ := dialect.Kustomize(document)
		var object map[string]any
		if utiljson.Unmarshal(text, &object) != nil || object == nil {
			continue
		}
		for _, one := range dialect.Objects(object) {
			all = append(all, &unstructured.Unstructured{Object: one})
		}
	}
	return all
}

// selectionPattern matches content that may lead to a CatalogSelection, directly or by another Kustomization, or by a chart of
// this repository: their API groups, and groups that are composed.
var selectionPattern = regexp.MustCompile(`catalog\.winnow\.dev/|kustomize\.toolkit\.fluxcd\.io/v|fluxcd\.controlplane\.io/` +
	`|apiVersion["']?\s*:\s*\S*[^\w./"'\s,}\]-]|/apiVersion`)

// MayMakeSelections reports whether content from which objects are made in the cluster has a group that matters.
func MayMakeSelections(content []byte) bool {
	return MayLeadToSelection(content) || documents.Mentions(content, SourceGroup, v1alpha1.CatalogSelectionKind)
}

// literalKind matches a kind that a template has as it is.
var literalKind = regexp.MustCompile(`(?m)^kind:[ \t]*["']?([A-Za-z]+)["']?[ \t]*\r?$`)

// MayMakeByTemplate reports whether objects that matter may be made of a template of a chart. A group that it composes may be any,
// but not of a kind that is written out and that no such object has.
func MayMakeByTemplate(content []byte) bool {
	for document := range bytes.SplitSeq(content, []byte("\n---")) {
		kinds := literalKind.FindAllSubmatch(document, -1)
		isOther := func(kind [][]byte) bool { return !slices.Contains(leadingKinds, string(kind[1])) }
		named := documents.Mentions(document, SourceGroup, KustomizationGroup, OperatorGroup, v1alpha1.GroupVersion.Group)
		if MayMakeSelections(document) && (named || len(kinds) == 0 || !slices.ContainsFunc(kinds, isOther)) {
			return true
		}
	}
	return false
}

// leadingKinds are the kinds of objects that may lead to a CatalogSelection.
var leadingKinds = []string{
	v1alpha1.CatalogSelectionKind, kustomizev1.KustomizationKind, sourcev1.GitRepositoryKind, sourcev1.OCIRepositoryKind, sourcev1.BucketKind,
	sourcev1.HelmChartKind, sourcev1.ExternalArtifactKind, "HelmRelease", "ResourceSet", "FluxInstance", GeneratorKind, "List",
}

// MayLeadToSelection reports whether content may lead to a CatalogSelection, directly or by another Kustomization.
func MayLeadToSelection(content []byte) bool {
	charts := bytes.Contains(content, []byte(ReleaseGroup)) &&
		documents.Mentions(content, sourcev1.GitRepositoryKind, sourcev1.BucketKind, sourcev1.ExternalArtifactKind, sourcev1.HelmChartKind)
	return charts || documents.Mentions(content) || selectionPattern.Match(content)
}

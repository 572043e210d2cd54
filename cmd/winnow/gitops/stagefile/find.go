// SPDX-License-Identifier: Apache-2.0

package stagefile

import (
	"slices"
	"strings"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/yamledit"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// Stage is an OCIRepository in a file, which may be a patch of one.
type Stage struct {
	Namespace, Name string
	// URL of the repository, and Digest in spec.ref; empty where the file does not have them. Follows are the tag or the
	// range in spec.ref.
	URL, Digest, Follows string
	// Approval is the annotation that approves a promotion.
	Approval string
	// Suspended reports that Flux pulls nothing.
	Suspended bool
	// Line of the object, and DigestLine of the digest.
	Line, DigestLine int

	document int
	items    []int
	node     *yaml.Node
}

// Find returns the OCIRepositories among the documents of a file and the items of lists, in their order.
func Find(content []byte) ([]Stage, error) {
	documents, err := yamledit.Documents(content)
	if err != nil {
		return nil, err
	}
	var all []Stage
	for i, root := range documents {
		all = append(all, stagesIn(Stage{document: i, node: root})...)
	}
	return all, nil
}

// stagesIn returns the OCIRepositories in an object: the object itself, or items of a list.
func stagesIn(s Stage) (all []Stage) {
	if items := yamlnode.Lookup(s.node, "items"); items != nil && items.Kind == yaml.SequenceNode && strings.HasSuffix(s.text("kind"), "List") {
		for i, item := range items.Content {
			all = append(all, stagesIn(Stage{document: s.document, items: append(slices.Clone(s.items), i), node: item})...)
		}
		return all
	}
	group, _, _ := strings.Cut(s.text("apiVersion"), "/")
	if group != sourcev1.GroupVersion.Group || s.text("kind") != sourcev1.OCIRepositoryKind {
		return nil
	}
	s.Namespace, s.Name, s.Line = s.text("metadata", "namespace"), s.text("metadata", "name"), s.node.Line
	s.URL, s.Digest = s.text("spec", "url"), s.text("spec", "ref", "digest")
	s.DigestLine = s.lineOf("spec", "ref", "digest")
	s.Approval = s.text("metadata", "annotations", v1alpha1.ApproveAnnotation)
	if suspend := yamlnode.Lookup(yamlnode.Lookup(s.node, "spec"), "suspend"); suspend != nil {
		s.Suspended = suspend.Value != "false"
	}
	for _, field := range []string{"tag", "semver"} {
		if value := s.text("spec", "ref", field); value != "" {
			s.Follows = field + " " + value
		}
	}
	return []Stage{s}
}

// text returns a text of the object, empty if there is none.
func (s Stage) text(path ...string) string { return yamlnode.TextAt(s.node, path...) }

// FullName is <namespace>/<name>, or the name alone.
func (s Stage) FullName() string { return strings.TrimPrefix(s.Namespace+"/"+s.Name, "/") }

// lineOf returns the line of a field, that of the object if there is none.
func (s Stage) lineOf(path ...string) int {
	field := s.node
	for _, key := range path {
		if field = yamlnode.Lookup(field, key); field == nil {
			return s.node.Line
		}
	}
	return field.Line
}

// SPDX-License-Identifier: Apache-2.0

package stagefile

import (
	"strings"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/each"
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
	// Suspended reports that Flux pulls nothing, and Insecure that the registry has no TLS.
	Suspended, Insecure bool
	// Line of the object, and DigestLine of the digest.
	Line, DigestLine int

	object yamledit.Object
}

// Find returns the OCIRepositories among the documents of a file and the items of lists, in their order.
func Find(content []byte) ([]Stage, error) {
	documents, err := yamledit.Documents(content)
	if err != nil {
		return nil, err
	}
	all := each.Map(yamledit.Objects(documents, sourcev1.GroupVersion.Group, sourcev1.OCIRepositoryKind), stageOf)
	return all, nil
}

func stageOf(object yamledit.Object) Stage {
	s := Stage{object: object}
	s.Namespace, s.Name, s.Line = s.text("metadata", "namespace"), s.text("metadata", "name"), object.Node.Line
	s.URL, s.Digest = s.text("spec", "url"), s.text("spec", "ref", "digest")
	s.DigestLine = s.lineOf("spec", "ref", "digest")
	s.Approval = s.text("metadata", "annotations", v1alpha1.ApproveAnnotation)
	if suspend := yamlnode.Lookup(yamlnode.Lookup(object.Node, "spec"), "suspend"); suspend != nil {
		s.Suspended = suspend.Value != "false"
	}
	if insecure := yamlnode.Lookup(yamlnode.Lookup(object.Node, "spec"), "insecure"); insecure != nil {
		s.Insecure = insecure.Value == "true"
	}
	for _, field := range []string{"tag", "semver"} {
		if value := s.text("spec", "ref", field); value != "" {
			s.Follows = field + " " + value
		}
	}
	return s
}

// text returns a text of the object, empty if there is none.
func (s Stage) text(path ...string) string { return yamlnode.TextAt(s.object.Node, path...) }

// FullName is <namespace>/<name>, or the name alone.
func (s Stage) FullName() string { return strings.TrimPrefix(s.Namespace+"/"+s.Name, "/") }

// lineOf returns the line of a field, or of the object if there is none.
func (s Stage) lineOf(path ...string) int {
	field := s.object.Node
	for _, key := range path {
		if field = yamlnode.Lookup(field, key); field == nil {
			return s.object.Node.Line
		}
	}
	return field.Line
}

// SPDX-License-Identifier: Apache-2.0

package stagefile

import (
	"cmp"
	"strings"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"go.yaml.in/yaml/v3"

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

// digestField has the digest, and annotation the lines that approve a promotion.
var (
	digestField = []string{"spec", "ref", "digest"}
	annotation  = []string{"metadata", "annotations", v1alpha1.ApproveAnnotation}
)

// Find returns the OCIRepositories among the documents of a file and the items of lists, in their order.
func Find(content []byte) ([]Stage, error) {
	documents, err := yamledit.Documents(content)
	if err != nil {
		return nil, err
	}
	return each.Map(yamledit.Objects(documents, sourcev1.GroupVersion.Group, sourcev1.OCIRepositoryKind), stageOf), nil
}

func stageOf(object yamledit.Object) Stage {
	s := Stage{object: object}
	s.Namespace, s.Name, s.Line = s.text("metadata", "namespace"), s.text("metadata", "name"), object.Node.Line
	s.URL, s.Digest = s.text("spec", "url"), s.text(digestField...)
	s.DigestLine = s.lineOf(digestField...)
	s.Approval = s.text(annotation...)
	suspend, insecure := s.field("spec", "suspend"), s.field("spec", "insecure")
	s.Suspended = suspend != nil && suspend.Value != "false"
	s.Insecure = insecure != nil && insecure.Value == "true"
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
func (s Stage) lineOf(path ...string) int { return cmp.Or(s.field(path...), s.object.Node).Line }

// field returns a field of the object, nil if there is none.
func (s Stage) field(path ...string) *yaml.Node {
	field := s.object.Node
	for _, key := range path {
		field = yamlnode.Lookup(field, key)
	}
	return field
}

// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"errors"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/winnow-dev/winnow/render/yamledit"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// versions drops the entries of spec.versions that do not stay, and with them a
// spec.defaultVersion that names one of them: KKP refuses a default that is not among the
// versions, and without the field takes the latest of those there are.
type versions struct{}

func (versions) concerns(in Input) bool {
	return !slices.Equal(in.Versions, in.Application.Versions)
}

func (versions) apply(in Input, doc *yamledit.Document, _ *Output) *Error {
	const field = "spec.versions"
	if len(in.Versions) == 0 {
		return &Error{Field: field, Err: errors.New("no version would stay")}
	}
	had, stays := sets.New(in.Application.Versions...), sets.New(in.Versions...)
	for _, version := range in.Versions {
		if !had.Has(version) {
			return &Error{Field: field, Err: fmt.Errorf("there is no version %.80q that could stay", version)}
		}
	}
	spec := yamledit.Lookup(doc.Content(), "spec")
	if spec == nil || spec.Kind != yaml.MappingNode {
		return &Error{Field: field, Err: errors.New("the document has no spec")}
	}
	list := yamledit.Lookup(spec, "versions")
	if list == nil || list.Kind != yaml.SequenceNode {
		return &Error{Field: field, Err: errors.New("the document has no list spec.versions")}
	}
	for i := len(list.Content) - 1; i >= 0; i-- {
		version, _ := yamlnode.Text(yamledit.Lookup(list.Content[i], "version"))
		if !stays.Has(version) {
			doc.RemoveItem(list, i)
		}
	}
	if version, ok := yamlnode.Text(yamledit.Lookup(spec, "defaultVersion")); ok && !stays.Has(version) && had.Has(version) {
		doc.Remove(spec, "defaultVersion")
	}
	return failed(field, doc.Flush())
}

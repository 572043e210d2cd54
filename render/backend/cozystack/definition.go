// SPDX-License-Identifier: Apache-2.0

// Package cozystack reads definitions of Cozystack, and has the backend whose applications Cozystack's API server installs.
// It must not know how Flux and the tofu-controller install the same definitions.
package cozystack

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/winnow-dev/winnow/render/backend/draft"
	"github.com/winnow-dev/winnow/render/backend/field"
	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/definition"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// ApplicationVersion is the version of the kinds that Cozystack serves for its definitions.
var ApplicationVersion = schema.GroupVersion{Group: kinds.CozystackApps, Version: "v1alpha1"}

// Kind returns spec.application.kind.
func Kind(d *draft.Draft) string {
	kind := definition.ApplicationKind(d.Spec)
	name := kind.Required()
	if problems := validation.IsDNS1035Label(strings.ToLower(name)); name != "" && len(problems) > 0 {
		kind.Fault("%s is no name of a kind", excerpt.Quoted(name))
	}
	if name == definition.Kind {
		kind.Fault("%s is the kind of definitions", excerpt.Quoted(name))
	}
	return name
}

// Prefixed returns the name of the object that Cozystack, too, gives to the instance.
func Prefixed(d *draft.Draft, of field.Field) string {
	name := of.Get("prefix").Text() + d.Name
	if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
		of.Get("prefix").Fault("makes the name %s, which is not valid: %s", excerpt.Quoted(name), problems[0])
	}
	return name
}

// Labels returns the labels of the object that installs the instance: the labels of its backend in the definition, and the
// labels by which Cozystack finds the application.
func Labels(d *draft.Draft, of field.Field) map[string]string {
	const application = "apps.cozystack.io/application."
	labels := of.Get("labels").Labels()
	labels[application+"kind"], labels[application+"name"] = Kind(d), d.Name
	labels[application+"group"] = ApplicationVersion.Group
	return labels
}

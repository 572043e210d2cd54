// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/installation"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// kinds maps the kinds that are read to their groups and versions.
func kinds() map[string][]schema.GroupVersion {
	sources := schema.GroupVersion{Group: "source.toolkit.fluxcd.io", Version: "v1"}
	return map[string][]schema.GroupVersion{
		helmRelease:             {{Group: "helm.toolkit.fluxcd.io", Version: "v2"}},
		applicationInstallation: {{Group: "apps.kubermatic.k8c.io", Version: "v1"}},
		helmRepository:          {sources},
		ociRepository:           {sources, {Group: sources.Group, Version: "v1beta2"}},
	}
}

// object is an object of the input. A field of another type than expected is as a missing one.
type object struct{ *unstructured.Unstructured }

// Kinds of the input.
const (
	helmRelease             = "HelmRelease"
	applicationInstallation = "ApplicationInstallation"
	helmRepository          = "HelmRepository"
	ociRepository           = "OCIRepository"
)

func (o object) text(fields ...string) string {
	value, _, _ := unstructured.NestedString(o.Object, append([]string{"spec"}, fields...)...)
	return value
}

func (o object) isTrue(fields ...string) bool {
	value, _, _ := unstructured.NestedBool(o.Object, append([]string{"spec"}, fields...)...)
	return value
}

// value returns a part of the spec, nil without one.
func (o object) value(fields ...string) any {
	value, _, _ := unstructured.NestedFieldNoCopy(o.Object, append([]string{"spec"}, fields...)...)
	return value
}

// duration returns a duration of the spec, nil without one.
func (o object) duration(field string) (*metav1.Duration, error) {
	text := o.text(field)
	if text == "" {
		return nil, nil
	}
	parsed, err := time.ParseDuration(text)
	if err != nil {
		return nil, fmt.Errorf("spec.%s is no duration", field)
	}
	return &metav1.Duration{Duration: parsed}, nil
}

// decode decodes a part of the spec into a type that has all of its fields.
func (o object) decode(into any, field string) error {
	value := o.value(field)
	if value == nil {
		return nil
	}
	encoded, err := json.Marshal(value)
	if err == nil {
		decoder := json.NewDecoder(bytes.NewReader(encoded))
		decoder.DisallowUnknownFields()
		err = decoder.Decode(into)
	}
	if err != nil {
		return fmt.Errorf("spec.%s has a field that is not known here", field)
	}
	return nil
}

// identity returns what the controller of the object takes it for.
func (o object) identity() backend.Identity {
	return backend.IdentityOf(backend.Object{Unstructured: o.Unstructured, Role: backend.Main})
}

// key identifies an object of the input.
type key struct{ kind, namespace, name string }

func (o object) key() key { return key{o.GetKind(), o.GetNamespace(), o.GetName()} }

func compareKeys(a, b key) int {
	return cmp.Or(cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name), cmp.Compare(a.kind, b.kind))
}

// releasesOf returns the keys of the release of an object, which no two instances may share.
func releasesOf(live object) []safeguard.Key {
	main := installation.MainOf(live.Object)
	main.Instance = live.GetName()
	return slices.Compact(main.Releases())
}

const kkpGroup = "apps.kubermatic.k8c.io"

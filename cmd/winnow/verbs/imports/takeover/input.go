// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/installation"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/value"
)

// input has the objects by what they are for.
type input struct {
	// releases are HelmReleases and ApplicationInstallations, each once, in the order of their keys.
	releases []object
	// owners counts the objects that install a release of Helm.
	owners map[safeguard.Key]int
	// sources of charts. One that the input has in two versions is empty.
	sources objectsByKey
}

// objectsByKey are sources, or all objects of an artifact.
type objectsByKey map[key]object

// newInput sorts the objects, and reports objects that have no place in it.
func newInput(objects []map[string]any, refuse func(object, string)) input {
	in := input{sources: objectsByKey{}, owners: map[safeguard.Key]int{}}
	seen := map[key][]object{}
	for _, content := range objects {
		o := object{&unstructured.Unstructured{Object: content}}
		if reason := unknown(o); reason != "" {
			refuse(o, reason)
			continue
		}
		seen[o.key()] = append(seen[o.key()], o)
	}
	for k, same := range seen {
		first, isSource := same[0], k.kind == kinds.HelmRepository.Kind || k.kind == kinds.OCIRepository.Kind
		if !isSource {
			for _, release := range releasesOf(first) {
				in.owners[release]++
			}
		}
		differs := slices.ContainsFunc(same, func(o object) bool { return !reflect.DeepEqual(o.Object["spec"], first.Object["spec"]) })
		switch {
		case isSource && differs:
			in.sources[k] = object{}
		case isSource:
			in.sources[k] = first
		case len(same) > 1:
			refuse(first, "the input has it twice")
		default:
			in.releases = append(in.releases, first)
		}
	}
	slices.SortFunc(in.releases, func(a, b object) int {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()), cmp.Compare(a.GetKind(), b.GetKind()))
	})
	return in
}

// unknown returns why an object cannot be looked at.
func unknown(o object) string {
	versions, known := served()[o.GetKind()]
	switch group := o.GroupVersionKind().GroupVersion(); {
	case o.GetKind() == "":
		return "it has no kind"
	case !known:
		return "it is neither a HelmRelease, nor an ApplicationInstallation, nor a source of either"
	case !slices.Contains(versions, group):
		return fmt.Sprintf("its apiVersion is %s, want %s", excerpt.Of(o.GetAPIVersion()), versions[0])
	case o.GetName() == "" || o.GetNamespace() == "":
		return "it has no name or no namespace"
	}
	return ""
}

// source returns a source of charts.
func (all objectsByKey) source(kind, namespace, name string) (object, error) {
	found, ok := all[key{kind, namespace, name}]
	switch {
	case !ok:
		return object{}, fmt.Errorf("its %s %s/%s is not in the input: add it, as kubectl get helmreleases,helmrepositories,ocirepositories -A -o yaml does",
			kind, excerpt.Of(namespace), excerpt.Of(name))
	case found.Unstructured == nil:
		return object{}, errors.New("the input has its source twice, with different contents")
	}
	return found, nil
}

// served maps the kinds that are read to their groups and versions.
func served() map[string][]schema.GroupVersion {
	all := map[string][]schema.GroupVersion{}
	for _, kind := range []schema.GroupVersionKind{kinds.HelmRelease, kinds.ApplicationInstallation, kinds.HelmRepository, kinds.OCIRepository} {
		all[kind.Kind] = []schema.GroupVersion{kind.GroupVersion()}
	}
	all[kinds.OCIRepository.Kind] = append(all[kinds.OCIRepository.Kind], schema.GroupVersion{Group: kinds.OCIRepository.Group, Version: "v1beta2"})
	return all
}

// object is an object of the input. A field of another type than expected is as a missing one.
type object struct{ *unstructured.Unstructured }

// spec returns a part of the spec.
func (o object) spec(fields ...string) value.Value {
	return value.Of(o.Object).Get("spec").Get(fields...)
}

func (o object) text(fields ...string) string { return o.spec(fields...).Text() }

// value returns a part of the spec, nil without one.
func (o object) value(fields ...string) any { return o.spec(fields...).Content }

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

// releasesOf returns the keys of the release of an object, which no two instances may share.
func releasesOf(live object) []safeguard.Key {
	main := installation.MainOf(live.Object)
	main.Instance = live.GetName()
	return slices.Compact(main.Releases())
}

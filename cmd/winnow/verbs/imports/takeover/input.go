// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// input has the objects by what they are for.
type input struct {
	// releases are HelmReleases and ApplicationInstallations, each once, in the order of their keys.
	releases []object
	// owners counts the objects that install a release of Helm.
	owners map[safeguard.Key]int
	// sources of charts. One that the input has in two versions is nil.
	sources map[key]*object
}

// newInput sorts the objects, and reports those that have no place in it.
func newInput(objects []map[string]any, refuse func(object, string)) input {
	in := input{sources: map[key]*object{}, owners: map[safeguard.Key]int{}}
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
		first, isSource := same[0], k.kind == helmRepository || k.kind == ociRepository
		if !isSource {
			for _, release := range releasesOf(first) {
				in.owners[release]++
			}
		}
		differs := slices.ContainsFunc(same, func(o object) bool { return !reflect.DeepEqual(o.Object["spec"], first.Object["spec"]) })
		switch {
		case isSource && differs:
			in.sources[k] = nil
		case isSource:
			in.sources[k] = &first
		case len(same) > 1:
			refuse(first, "the input has it twice")
		default:
			in.releases = append(in.releases, first)
		}
	}
	slices.SortFunc(in.releases, func(a, b object) int { return compareKeys(a.key(), b.key()) })
	return in
}

// unknown returns why an object cannot be looked at.
func unknown(o object) string {
	versions, known := kinds()[o.GetKind()]
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
func (in input) source(kind, namespace, name string) (*object, error) {
	found, ok := in.sources[key{kind, namespace, name}]
	switch {
	case !ok:
		return nil, fmt.Errorf("its %s %s/%s is not in the input: add it, as kubectl get helmreleases,helmrepositories,ocirepositories -A -o yaml does",
			kind, excerpt.Of(namespace), excerpt.Of(name))
	case found == nil:
		return nil, errors.New("the input has its source twice, with different contents")
	}
	return found, nil
}

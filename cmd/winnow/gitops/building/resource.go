// SPDX-License-Identifier: Apache-2.0

package building

import (
	"cmp"
	"fmt"
	"path"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	kustomize "sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/manifest"
	"github.com/winnow-dev/winnow/render/dialect"
)

// originAnnotation is the annotation in which kustomize records the file of an object.
const originAnnotation = "config.kubernetes.io/origin"

// resource is an object of a build whose variables are not replaced.
type resource struct {
	apiVersion, kind, namespace, name string
	// file that has it, and encoded is the object in JSON.
	file    string
	encoded []byte
	// fixed reports that Flux does not replace its variables, and plain is the object without a replacement, once it was decoded.
	fixed bool
	plain *unstructured.Unstructured
}

// newResource takes an object out of the build of dir.
func newResource(r *kustomize.Resource, dir string) (*resource, error) {
	annotations := r.GetAnnotations()
	var origin struct {
		Path string `json:"path"`
	}
	_ = dialect.Unmarshal([]byte(annotations[originAnnotation]), &origin) // kustomize writes valid YAML
	delete(annotations, originAnnotation)
	if err := r.SetAnnotations(annotations); err != nil {
		return nil, err
	}
	encoded, err := r.MarshalJSON()
	return &resource{
		apiVersion: r.GetApiVersion(), kind: r.GetKind(), namespace: r.GetNamespace(), name: r.GetName(),
		file: path.Join(dir, origin.Path), encoded: encoded, fixed: isDisabled(r),
	}, err
}

// id returns what identifies the object with variables, which is none where it matters to nobody.
func (r *resource) id(object manifest.Object) [4]string {
	if object.Unstructured == nil {
		return [4]string{r.apiVersion, r.kind, cmp.Or(r.namespace, "default"), r.name}
	}
	return [4]string{object.GetAPIVersion(), object.GetKind(), cmp.Or(object.GetNamespace(), "default"), object.GetName()}
}

// with returns the object with variables. An object that matters to nobody may be none.
func (r *resource) with(vars *Variables) (manifest.Object, error) {
	object := manifest.Object{Unstructured: &unstructured.Unstructured{}, File: r.file}
	if r.fixed || !vars.mayReplace(r.encoded) {
		object.SetAPIVersion(r.apiVersion)
		object.SetKind(r.kind)
		if !manifest.IsRelevant(object.Unstructured) {
			return manifest.Object{}, nil
		}
		if r.plain == nil {
			if err := utiljson.Unmarshal(r.encoded, &object.Object); err != nil {
				return manifest.Object{}, err
			}
			r.plain = object.Unstructured
		}
		object.Unstructured = r.plain
		return object, nil
	}
	content, err := yaml.JSONToYAML(r.encoded)
	if err != nil {
		return manifest.Object{}, err
	}
	if content, object.Unknown, object.Hidden, err = vars.substitute(content); err != nil {
		return manifest.Object{}, fmt.Errorf("replacing the variables of %s %s: %w", r.kind, r.name, err)
	}
	object.Object, err = dialect.Object(content, false)
	return object, err
}

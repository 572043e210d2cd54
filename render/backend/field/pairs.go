// SPDX-License-Identifier: Apache-2.0

package field

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/winnow-dev/winnow/render/catalog/kustomize"
	"github.com/winnow-dev/winnow/render/catalog/objectmeta"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// Labels returns a mapping of labels. One that the API server refuses would stop all objects of the artifact.
func (f Field) Labels() map[string]string {
	all := f.texts()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		f.checkKey(name)
		for _, problem := range validation.IsValidLabelValue(all[name]) {
			f.Get(name).Fault("%s is no value of a label: %s", excerpt.Quoted(all[name]), problem)
		}
	}
	return all
}

// shardingLabel selects the helm-controller that installs a release. Of Flux's labels it is the only one that a
// definition may set.
const shardingLabel = "sharding.fluxcd.io/key"

// Annotations returns a mapping of annotations.
func (f Field) Annotations() map[string]string {
	all := f.texts()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		f.checkKey(name)
		if kustomize.IsUnwritable(all[name]) {
			f.Get(name).Fault("has several lines and begins with a tab, which kustomize cannot write")
		}
	}
	return all
}

// checkKey refuses keys that are not valid, and those that are not for a catalog to set, as on definitions.
func (f Field) checkKey(name string) {
	for _, problem := range validation.IsQualifiedName(strings.ToLower(name)) {
		f.Fault("has the key %s, which is not valid: %s", excerpt.Quoted(name), problem)
	}
	if kustomize.IsUnwritableKey(name) {
		f.Fault("has the key %s, which kustomize cannot write, because YAML reads it as no text", excerpt.Quoted(name))
	}
	if objectmeta.IsReserved(name) && name != shardingLabel {
		f.Fault("has the key %s, which decides how Flux, kustomize or Winnow treat an object: it is not the catalog's to set", excerpt.Quoted(name))
	}
}

package backend

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/winnow-dev/winnow/render/catalog"
)

// shardingLabel selects the helm-controller that installs a release. Of Flux's labels it is the only one that a
// definition may set.
const shardingLabel = "sharding.fluxcd.io/key"

// labels returns a mapping of labels. One that the API server refuses would stop all objects of the artifact.
func (f field) labels() map[string]string {
	all := f.texts()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		f.checkKey(name)
		for _, problem := range validation.IsValidLabelValue(all[name]) {
			f.get(name).fault("%s is no value of a label: %s", quote(all[name]), problem)
		}
	}
	return all
}

// annotations returns a mapping of annotations.
func (f field) annotations() map[string]string {
	all := f.texts()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		f.checkKey(name)
		if strings.HasPrefix(all[name], "\t") && strings.Contains(all[name], "\n") {
			f.get(name).fault("has several lines and begins with a tab, which kustomize cannot write")
		}
	}
	return all
}

// checkKey refuses keys that are not valid, and those that are not for a catalog to set, as on definitions.
func (f field) checkKey(name string) {
	for _, problem := range validation.IsQualifiedName(strings.ToLower(name)) {
		f.fault("has the key %s, which is not valid: %s", quote(name), problem)
	}
	domain, _, _ := strings.Cut(strings.ToLower(name), "/")
	ofKustomize := strings.HasSuffix(domain, "config.kubernetes.io") || strings.HasSuffix(domain, "config.k8s.io")
	if ofKustomize || catalog.IsReserved(name) && name != shardingLabel {
		f.fault("has the key %s, which decides how Flux, kustomize or Winnow treat an object: it is not the catalog's to set", quote(name))
	}
}

// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"bytes"
	"errors"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// candidate is a live release, and the instance that would be the same.
type candidate struct {
	live     object
	instance v1alpha1.Instance
	// chart of a HelmRelease, and its source.
	chart  chart
	source object
	// values of the live release, without its valuesFrom.
	values map[string]any
	// patch adds to the object what the instance does not say; nil before it is known.
	patch map[string]any
	// found is what the last comparison found.
	found comparison
	// warnings are about what the user has to do, or to accept.
	warnings []string
}

// kustomizationPrefix begins the labels that name the Kustomization that applies an object.
const kustomizationPrefix = "kustomize.toolkit.fluxcd.io/"

// warnOfOwners warns of what would delete the release when it is removed there.
func (c *candidate) warnOfOwners() {
	for _, owner := range []struct{ kind, prefix, protection string }{
		{"Kustomization", kustomizationPrefix, "the annotation " + kustomizationPrefix + "prune: disabled"},
		{kinds.HelmRelease.Kind, "helm.toolkit.fluxcd.io/", "the annotation helm.sh/resource-policy: keep"},
	} {
		labels := c.live.GetLabels()
		if name := labels[owner.prefix+"name"]; name != "" {
			c.warn("the %s %s/%s applies it: give it %s there before you remove it there", owner.kind,
				excerpt.Of(labels[owner.prefix+"namespace"]), excerpt.Of(name), owner.protection)
		}
	}
}

// isApplied reports whether a Kustomization applies the object, so that another one removes what its manifest lacks: all
// of them have the same field manager.
func (c *candidate) isApplied() bool { return c.live.GetLabels()[kustomizationPrefix+"name"] != "" }

func (c *candidate) warn(format string, args ...any) {
	c.warnings = append(c.warnings, fmt.Sprintf(format, args...))
}

// changing are the fields of a HelmRelease by which it installs other objects than the chart and its values say.
func changing() []string { return []string{"kubeConfig", "postRenderers", "commonMetadata"} }

// isEmpty reports whether a field has no member, nor one below it.
func isEmpty(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case []any:
		return len(value) == 0
	case map[string]any:
		for _, member := range value {
			if !isEmpty(member) {
				return false
			}
		}
		return true
	}
	return false
}

// identify sets what decides which release of Helm it is.
func (c *candidate) identify() {
	release := c.live.identity().Release
	c.instance.Namespace = release.TargetNamespace
	if release.Name != c.live.GetName() {
		c.instance.ReleaseName = release.Name
	}
	if release.StorageNamespace != c.live.GetNamespace() {
		c.instance.StorageNamespace = release.StorageNamespace
	}
	c.instance.CreateNamespace = new(false) // the namespace exists, and may have other labels than in the definition
}

// setValues sets the values that the defaults do not say. Where others lie between the two, it sets all.
func (c *candidate) setValues(live any, defaults map[string]any, direct bool) error {
	values, isMapping := live.(map[string]any)
	if live != nil && !isMapping {
		return errors.New("its spec.values is no mapping")
	}
	c.values = values
	left := values
	if direct {
		left = without(values, defaults)
	}
	if path := nulls("", left); path != "" {
		c.warn("the value %s is null, and a patch of kustomize takes that for the removal of a field: add this instance to the file of the selection itself", excerpt.To(path, maxPath))
	}
	if len(left) == 0 {
		return nil
	}
	encoded, err := json.Marshal(left)
	if err != nil {
		return errors.New("its values cannot be converted to JSON")
	}
	if bytes.Contains(encoded, []byte("${")) {
		c.warn("a value has ${, which a Kustomization with postBuild replaces: the selection needs the annotation %ssubstitute: disabled then", kustomizationPrefix)
	}
	c.instance.Values = &apiextensionsv1.JSON{Raw: encoded}
	return nil
}

// comparison is what becomes of a live release.
type comparison struct {
	// patch has what the instance cannot say of it; nil for nothing.
	patch map[string]any
	// values are the paths of changed values.
	values []string
	// isMoved reports whether the chart comes through another kind of source.
	isMoved bool
}

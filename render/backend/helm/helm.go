// SPDX-License-Identifier: Apache-2.0

// Package helm is the backend whose HelmReleases Flux's helm-controller installs. From definitions of KKP and of
// Cozystack it installs what these platforms would install. It must not know their own objects.
package helm

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/backend/draft"
	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/backend/kkp"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// Backend makes HelmReleases and their sources of definitions of KKP, and of Cozystack.
func Backend() backend.Backend {
	return draft.Translation{
		Name:  backend.Helm,
		Kinds: []schema.GroupVersionKind{kinds.HelmRelease, kinds.HelmRepository, kinds.OCIRepository},
		Fill: func(d *draft.Draft) {
			ofKKP := d.Application.Group == kinds.KKPGroup
			if !d.Installs(ofKKP || d.Application.OfCozystack()) {
				return
			}
			d.Unsupported("destroyResources")
			if ofKKP {
				releaseOfKKP(d)
				return
			}
			releaseOfCozystack(d)
		},
	}
}

// releaseOfKKP installs what KKP would install from the same definition.
func releaseOfKKP(d *draft.Draft) {
	if method := d.Spec.Get("method"); method.Text() != "helm" {
		method.Fault("%s is not helm, the only method that is known here", excerpt.Quoted(method.Text()))
	}
	c := helmChart(d)
	options := kkp.ReadDeployOptions(d)
	if options.EnableDNS {
		d.Fault("spec.defaultDeployOptions.helm.enableDNS", "has no equivalent in a HelmRelease, only helm-controller's feature gate AllowDNSLookups for all of them: "+
			"enable that, and leave the field out with spec.omitFields")
	}
	namespace := kkp.TargetNamespace(d)
	defaults := executedDefaults(d)
	if len(d.Problems) > 0 {
		return
	}
	d.Chart = c.base()
	r := release{
		name: d.Name, namespace: namespace.Name, timeout: options.Timeout,
		remediate: options.Atomic, disableWait: options.DisableWait, extra: map[string]any{},
	}
	addSource(d, c, r.extra)
	r.valuesFrom = helmReferences(append(addDefaults(d, defaults), d.ValuesFrom...))
	d.AddNamespace(namespace)
	addRelease(d, r)
}

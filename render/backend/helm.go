package backend

import "k8s.io/apimachinery/pkg/runtime/schema"

// Helm is the type of the backend for Flux's helm-controller.
const Helm = "Helm"

// helmBackend makes HelmReleases and their sources of definitions of KKP, and of Cozystack.
func helmBackend() Backend {
	return translation{
		name:    Helm,
		targets: []schema.GroupVersionKind{helmReleaseKind, helmRepositoryKind, ociRepositoryKind},
		build: func(d *draft) {
			if !d.ofGroup(kkpGroup, cozystackGroup) {
				return
			}
			d.unsupported("destroyResources")
			if d.Application.Group == cozystackGroup {
				d.releaseOfCozystack()
				return
			}
			d.releaseOfKKP()
		},
	}
}

// releaseOfKKP installs what KKP would install from the same definition.
func (d *draft) releaseOfKKP() {
	if method := d.spec.get("method"); method.text() != "helm" {
		method.fault("%s is not helm, the only method that is known here", quote(method.text()))
	}
	c := d.helmChart()
	options := d.deployOptions()
	if options.enableDNS {
		d.fault("spec.defaultDeployOptions.helm.enableDNS", "has no equivalent in a HelmRelease, only helm-controller's feature gate AllowDNSLookups for all of them: "+
			"enable that, and leave the field out with spec.omitFields")
	}
	namespace := d.targetNamespace()
	defaults := d.executedDefaults()
	if len(d.problems) > 0 {
		return
	}
	d.chart = c.base()
	r := release{
		name: d.Name, namespace: namespace.name, timeout: options.timeout,
		remediate: options.atomic, disableWait: options.disableWait, extra: map[string]any{},
	}
	d.addSource(c, r.extra)
	r.valuesFrom = helmReferences(append(d.addDefaults(defaults), d.ValuesFrom...))
	d.addNamespace(namespace)
	d.addRelease(r)
}

package backend

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// cozystackKind returns spec.application.kind.
func (d *draft) cozystackKind() string {
	kind := d.spec.get("application", "kind")
	name := kind.required()
	if problems := validation.IsDNS1035Label(strings.ToLower(name)); name != "" && len(problems) > 0 {
		kind.fault("%s is no name of a kind", quote(name))
	}
	if name == "ApplicationDefinition" {
		kind.fault("%s is the kind of definitions", quote(name))
	}
	return name
}

// prefixed returns the name of the object that Cozystack, too, gives to the instance.
func (d *draft) prefixed(of field) string {
	name := of.get("prefix").text() + d.Name
	if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
		of.get("prefix").fault("makes the name %s, which is not valid: %s", quote(name), problems[0])
	}
	return name
}

// helmOfCozystack returns backend.helm of a definition, or the older spec.release.
func (d *draft) helmOfCozystack() field {
	backend := d.spec.get("backend")
	if !backend.isSet() {
		return d.spec.get("release")
	}
	if name := cmp.Or(backend.get("type").text(), Helm); name != Helm {
		backend.get("type").fault("is %s: name that backend in the instance", quote(name))
	}
	return backend.get("helm")
}

// releaseOfCozystack installs what Cozystack's API server would install, without that server.
func (d *draft) releaseOfCozystack() {
	d.unsupported("version")
	helm := d.helmOfCozystack()
	if !helm.isSet() {
		helm.fault("is missing")
		return
	}
	d.checkSchema()
	r := release{
		name: d.prefixed(helm), namespace: d.namespace(), labels: helm.get("labels").labels(), timeout: d.Timeout,
		extra: map[string]any{"chartRef": helm.get("chartRef").pickTexts("apiVersion", "kind", "name", "namespace")},
	}
	d.readAnnotations(&r)
	r.valuesFrom = helmReferences(append(helm.get("valuesFrom").references(), d.ValuesFrom...))
	switch strategy := helm.get("waitStrategy"); strategy.text() {
	case "":
	case "poller", "legacy":
		r.extra["waitStrategy"] = map[string]any{"name": strategy.text()}
	default:
		strategy.fault("%s must be poller or legacy", quote(strategy.text()))
	}
	if checks := helm.get("healthCheckExprs").healthChecks(); len(checks) > 0 {
		r.extra["healthCheckExprs"] = checks
	}
	helm.get("chartRef", "name").required()
	if kind := helm.get("chartRef", "kind").required(); kind != "" && !slices.Contains([]string{"OCIRepository", "HelmChart", "ExternalArtifact"}, kind) {
		helm.get("chartRef", "kind").fault("%s must be OCIRepository, HelmChart or ExternalArtifact", quote(kind))
	}
	if d.CreateNamespace != nil {
		d.addNamespace(kkpNamespace{name: r.namespace, create: *d.CreateNamespace})
	}
	d.addRelease(r)
}

// references returns the references to values of a definition.
func (f field) references() []ValuesReference {
	var all []ValuesReference
	for _, item := range f.items() {
		from := ValuesReference{
			Kind: item.get("kind").text(), Name: item.get("name").text(), ValuesKey: item.get("valuesKey").text(),
			TargetPath: item.get("targetPath").text(), Literal: item.get("literal").isTrue(), Optional: item.get("optional").isTrue(),
		}
		item.pick("kind", "name", "valuesKey", "targetPath", "literal", "optional")
		from.check(func(path, format string, args ...any) { item.get(path).fault(format, args...) })
		all = append(all, from)
	}
	return all
}

// healthChecks returns expressions for the health of what a release installs.
func (f field) healthChecks() []any {
	var all []any
	for _, item := range f.items() {
		all = append(all, item.pickTexts("apiVersion", "kind", "current", "failed", "inProgress"))
		for _, name := range []string{"apiVersion", "kind", "current"} {
			item.get(name).required()
		}
	}
	return all
}

const annotationPrefix = "release.cozystack.io/"

// readAnnotations reads what a definition of Cozystack says about its releases in annotations.
func (d *draft) readAnnotations(r *release) {
	for _, name := range slices.Sorted(maps.Keys(d.Application.Annotations)) {
		option, isOption := strings.CutPrefix(name, annotationPrefix)
		if !isOption {
			continue
		}
		at := field{draft: d, path: "metadata.annotations." + name, value: d.Application.Annotations[name]}
		switch option {
		case "helm-install-timeout":
			r.installTimeout = at.duration()
		case "helm-install-disable-wait":
			r.disableWait = at.flag()
		case "helm-server-side-apply":
			r.clientSide = !at.flag()
		default:
			at.fault("is not known here: the backend %s cannot do what it asks for", d.backend)
		}
	}
}

// flag returns the boolean that an annotation says.
func (f field) flag() bool {
	text := f.text()
	if text != "true" && text != "false" {
		f.fault("must be \"true\" or \"false\"")
	}
	return text == "true"
}

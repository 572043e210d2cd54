// SPDX-License-Identifier: Apache-2.0

// Package helm is the backend whose HelmReleases Flux's helm-controller installs. From definitions of KKP and of
// Cozystack it installs what these platforms would install. It must not know their own objects.
package helm

import (
	"cmp"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/backend/draft"
	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/backend/kkp"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// Fill makes HelmReleases and their sources of definitions of KKP, and of Cozystack.
func Fill(d *draft.Draft) {
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
	values, path, _ := kkp.ReadDefaultValues(d)
	defaults := (&execution{draft: d, left: kkp.MaxActions}).mapping(path, values, d.Values)
	if len(d.Problems) > 0 {
		return
	}
	r := release{
		name: d.Name, namespace: namespace.Name, timeout: options.Timeout,
		remediate: options.Atomic, disableWait: options.DisableWait, extra: map[string]any{},
	}
	addSource(d, c, r.extra)
	r.valuesFrom = helmReferences(append(addDefaults(d, defaults), d.ValuesFrom...))
	d.AddNamespace(namespace)
	addRelease(d, r)
}

// addSource adds the source of a chart, and sets it in the spec of the HelmRelease.
func addSource(d *draft.Draft, c chart, release map[string]any) {
	if c.isOCI() {
		release["chartRef"] = map[string]any{"kind": kinds.OCIRepository.Kind, "name": addRegistry(d, c)}
		return
	}
	release["chart"] = map[string]any{"spec": map[string]any{
		"chart": c.name, "version": c.version,
		"sourceRef": map[string]any{"kind": kinds.HelmRepository.Kind, "name": addRepository(d, c)},
	}}
}

// chartLayer is the media type of the layer that holds a chart.
const chartLayer = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"

// registryTimeout is the former default of the API, without which source-controller 1.9 and earlier end.
const registryTimeout = "1m0s"

// addRegistry adds an OCIRepository for one version of the chart, whose name changes with what it refers to:
// an upgrade of a release never finds new values beside the old chart.
func addRegistry(d *draft.Draft, c chart) (name string) {
	spec := map[string]any{
		"interval":      cmp.Or(d.Interval, draft.DefaultInterval).String(),
		"timeout":       registryTimeout,
		"url":           c.url + "/" + c.name,
		"ref":           map[string]any{"tag": c.tag()},
		"layerSelector": map[string]any{"mediaType": chartLayer, "operation": "copy"},
	}
	draft.Set(spec, "insecure", c.plainHTTP)
	setAccess(d, spec)
	if !isGeneric(d.Access.Provider) {
		spec["provider"] = d.Access.Provider
	}
	name = d.Name + "-" + backend.Digest(c.url, c.name, c.tag(), strconv.FormatBool(c.plainHTTP),
		d.Access.SecretRef, d.Access.CertSecretRef, d.Access.Provider)
	d.Add(backend.Source, kinds.OCIRepository, d.Namespace, name, map[string]any{"spec": spec})
	return name
}

// addRepository adds a HelmRepository, which is the same for all instances of the selection with its URL and credentials.
func addRepository(d *draft.Draft, c chart) (name string) {
	if !isGeneric(d.Access.Provider) {
		d.Refuse("access.provider", "%s is for registries, and the chart is in a Helm repository at an http(s) URL: leave it out", excerpt.Quoted(d.Access.Provider))
	}
	spec := map[string]any{"interval": draft.DefaultInterval.String(), "url": c.url}
	setAccess(d, spec)
	name = repositoryName(c.url) + "-" + backend.Digest(c.url, d.Access.SecretRef, d.Access.CertSecretRef, d.Selection)
	d.Add(backend.Source, kinds.HelmRepository, d.Namespace, name, map[string]any{"spec": spec})
	return name
}

func setAccess(d *draft.Draft, spec map[string]any) {
	for member, name := range map[string]string{"secretRef": d.Access.SecretRef, "certSecretRef": d.Access.CertSecretRef} {
		if name != "" {
			spec[member] = map[string]any{"name": name}
		}
	}
}

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// repositoryName begins the name of a HelmRepository so that people recognize it.
func repositoryName(address string) string {
	const most = 50
	parsed, err := url.Parse(address)
	if err != nil {
		return "charts"
	}
	text := notInNames.ReplaceAllString(strings.ToLower(parsed.Hostname()+parsed.Path), "-")
	return cmp.Or(strings.Trim(text[:min(len(text), most)], "-"), "charts")
}

// execution executes the templates in default values, without what the values of the instance replace. A template that needs a
// cluster of KKP is a problem unless it is replaced.
type execution struct {
	draft *draft.Draft
	// left is the number of actions that may still be executed.
	left int
}

// mapping executes what is not replaced.
func (e *execution) mapping(path string, values, replacing map[string]any) map[string]any {
	kept := make(map[string]any, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		at := path + "." + name
		over, isReplaced := replacing[name]
		under, isMapping := values[name].(map[string]any)
		members, merges := over.(map[string]any)
		switch {
		case isReplaced && (!isMapping || !merges):
			// Nothing of the default is left, whatever valuesFrom has between them.
		case strings.Contains(name, kkp.LeftDelimiter):
			e.draft.Fault(at, "is a key with a template, which cannot be executed here: replace %s in the values of the instance", excerpt.Quoted(name))
		case isMapping:
			kept[name] = e.mapping(at, under, members)
		default:
			kept[name] = e.value(at, values[name])
		}
	}
	return kept
}

func (e *execution) value(path string, value any) any {
	switch typed := value.(type) {
	case string:
		result, err := e.execute(typed)
		if err != nil {
			e.draft.Fault(path, "%v: replace it in the values of the instance, or in the overrides of the selection", err)
		}
		return result
	case map[string]any:
		return e.mapping(path, typed, nil)
	case []any:
		list := make([]any, 0, len(typed))
		for i, element := range typed {
			list = append(list, e.value(backend.Indexed(path, i), element))
		}
		return list
	default:
		return value
	}
}

// addDefaults adds a ConfigMap with default values, and returns the reference to it. The name changes with the
// content, so that values and chart switch together.
func addDefaults(d *draft.Draft, values map[string]any) []v1alpha1.ValuesReference {
	if len(values) == 0 {
		return nil
	}
	content, err := yaml.Marshal(values)
	if err != nil {
		d.Fault("spec", "encoding the default values: %v", err)
		return nil
	}
	name := d.Name + backend.DefaultsInfix + backend.Digest(string(content))
	d.Add(backend.Values, kinds.ConfigMap, d.Namespace, name, map[string]any{"data": map[string]any{backend.DefaultsKey: string(content)}})
	return []v1alpha1.ValuesReference{{Kind: kinds.ConfigMap.Kind, Name: name, ValuesKey: backend.DefaultsKey}}
}

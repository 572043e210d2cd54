package backend

import (
	"cmp"
	"net/url"
	"path"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	configMapKind      = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	namespaceKind      = schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}
	helmRepositoryKind = schema.GroupVersionKind{Group: "source.toolkit.fluxcd.io", Version: "v1", Kind: "HelmRepository"}
	ociRepositoryKind  = schema.GroupVersionKind{Group: "source.toolkit.fluxcd.io", Version: "v1", Kind: "OCIRepository"}
)

// chartLayer is the media type of the layer that holds a chart.
const chartLayer = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"

// addSource adds the source of a chart, and sets it in the spec of the HelmRelease.
func (d *draft) addSource(c chart, release map[string]any) {
	if c.isOCI() {
		release["chartRef"] = map[string]any{"kind": ociRepositoryKind.Kind, "name": d.addRegistry(c)}
		return
	}
	release["chart"] = map[string]any{"spec": map[string]any{
		"chart": c.name, "version": c.version,
		"sourceRef": map[string]any{"kind": helmRepositoryKind.Kind, "name": d.addRepository(c)},
	}}
}

// addRegistry adds an OCIRepository for one version of the chart, whose name changes with what it refers to:
// an upgrade of a release never finds new values beside the old chart.
func (d *draft) addRegistry(c chart) (name string) {
	spec := map[string]any{
		"interval":      d.interval().String(),
		"url":           c.url + "/" + c.name,
		"ref":           map[string]any{"tag": c.tag()},
		"layerSelector": map[string]any{"mediaType": chartLayer, "operation": "copy"},
	}
	setTrue(spec, "insecure", c.plainHTTP)
	d.setAccess(spec)
	if !isGeneric(d.Access.Provider) {
		spec["provider"] = d.Access.Provider
	}
	name = d.Name + "-" + digest(c.url, c.name, c.tag(), strconv.FormatBool(c.plainHTTP),
		d.Access.SecretRef, d.Access.CertSecretRef, d.Access.Provider)
	d.add(Source, ociRepositoryKind, d.Namespace, name, map[string]any{"spec": spec})
	return name
}

// addRepository adds a HelmRepository, which is the same for all instances of the selection with its URL and credentials.
func (d *draft) addRepository(c chart) (name string) {
	if !isGeneric(d.Access.Provider) {
		d.refuse("access.provider", "%s is for registries, and the chart is in a Helm repository at an http(s) URL: leave it out", quote(d.Access.Provider))
	}
	spec := map[string]any{"interval": defaultInterval.String(), "url": c.url}
	d.setAccess(spec)
	name = repositoryName(c.url) + "-" + digest(c.url, d.Access.SecretRef, d.Access.CertSecretRef, d.Selection)
	d.add(Source, helmRepositoryKind, d.Namespace, name, map[string]any{"spec": spec})
	return name
}

func (d *draft) setAccess(spec map[string]any) {
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

// base returns the name that Chart.yaml of the chart has.
func (c chart) base() string { return path.Base(c.name) }

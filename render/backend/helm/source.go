// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"cmp"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/backend/draft"
	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/excerpt"
)

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
	draft.SetTrue(spec, "insecure", c.plainHTTP)
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

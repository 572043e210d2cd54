// SPDX-License-Identifier: Apache-2.0

package kkp

import (
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/backend/draft"
	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/reserved"
)

// maxInstalledName is the limit of the references to applications.
const maxInstalledName = 63

// Fill makes an ApplicationInstallation of a definition of KKP.
func Fill(d *draft.Draft) {
	if !d.Installs(d.Application.Group == kinds.KKPGroup) {
		return
	}
	d.Unsupported("releaseName", "storageNamespace", "serviceAccountName", "suspend", "dependsOn", "valuesFrom", "destroyResources", "deploy.retries")
	if strings.EqualFold(d.Application.Labels[reserved.PlatformLabel], "kkp") {
		d.Fault("metadata.labels."+reserved.PlatformLabel, "says that KKP installs the application by itself: leave the instance out")
	}
	if name := d.Application.Name; len(name) > maxInstalledName || strings.Contains(name, ".") {
		d.Fault("metadata.name", "%s cannot be installed: KKP allows %d characters and no dots", excerpt.Quoted(name), maxInstalledName)
	}
	VersionEntry(d)
	options, namespace := installOptions(d), TargetNamespace(d)
	values := valuesBlock(d)
	if len(d.Problems) > 0 {
		return
	}
	target := map[string]any{"name": namespace.Name, "create": namespace.Create}
	draft.SetMap(target, "labels", namespace.Labels)
	draft.SetMap(target, "annotations", namespace.Annotations)
	spec := map[string]any{
		"applicationRef": map[string]any{"name": d.Application.Name, "version": d.Version},
		"namespace":      target,
	}
	draft.Set(spec, "valuesBlock", values)
	draft.SetMap(spec, "deployOptions", options)
	draft.SetDuration(spec, "reconciliationInterval", d.Interval)
	d.Add(backend.Main, kinds.ApplicationInstallation, d.Namespace, d.Name, map[string]any{"spec": spec})
}

// installOptions returns the options of the instance. They replace the options of the definition, so they have
// to repeat them.
func installOptions(d *draft.Draft) map[string]any {
	if d.Timeout == 0 && d.Deploy == (v1alpha1.Deploy{}) {
		return nil
	}
	options := ReadDeployOptions(d)
	waits, atomic := d.Deployed(options.wait, options.Atomic)
	if d.Timeout != 0 && !waits {
		d.Refuse("timeout", "is how long KKP waits for a release, and it does not wait for this one: set deploy.wait to true, or leave it out")
	}
	helm := map[string]any{"wait": waits}
	if waits {
		draft.SetDuration(helm, "timeout", options.Timeout)
	}
	draft.Set(helm, "atomic", atomic)
	draft.Set(helm, "enableDNS", options.EnableDNS)
	return map[string]any{"helm": helm}
}

// valuesBlock returns the values of the instance over the default values of the definition, which KKP copies for
// those who install in its user interface, not for others. Their templates are KKP's to execute. Without values
// of the instance the author's text stays as it is.
func valuesBlock(d *draft.Draft) string {
	defaults, path, text := ReadDefaultValues(d)
	if len(d.Values) == 0 && text != "" {
		return text
	}
	merged := backend.MergeValues(defaults, d.Values)
	if len(merged) == 0 {
		return ""
	}
	encoded, err := yaml.Marshal(merged)
	if err != nil {
		d.Fault(path, "encoding the values: %v", err)
	}
	return string(encoded)
}

package backend

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// ApplicationInstallation is the type of the backend for user clusters of KKP.
const ApplicationInstallation = "ApplicationInstallation"

var installationKind = schema.GroupVersionKind{Group: kkpGroup, Version: "v1", Kind: "ApplicationInstallation"}

// managedByLabel marks what KKP installs by itself.
const managedByLabel = kkpGroup + "/managed-by"

// maxInstalledName is the limit of the references to applications.
const maxInstalledName = 63

// installationBackend makes ApplicationInstallations of definitions of KKP.
func installationBackend() Backend {
	return translation{
		name:    ApplicationInstallation,
		targets: []schema.GroupVersionKind{installationKind},
		build:   func(d *draft) { d.installation() },
	}
}

func (d *draft) installation() {
	if !d.ofGroup(kkpGroup) {
		return
	}
	d.unsupported("releaseName", "storageNamespace", "serviceAccountName", "suspend", "dependsOn", "valuesFrom", "destroyResources")
	if strings.EqualFold(d.Application.Labels[managedByLabel], "kkp") {
		d.fault("metadata.labels."+managedByLabel, "says that KKP installs the application by itself: leave the instance out")
	}
	if name := d.Application.Name; len(name) > maxInstalledName || strings.Contains(name, ".") {
		d.fault("metadata.name", "%s cannot be installed: KKP allows %d characters and no dots", quote(name), maxInstalledName)
	}
	d.versionEntry()
	options, namespace := d.installOptions(), d.targetNamespace()
	values := d.valuesBlock()
	if len(d.problems) > 0 {
		return
	}
	target := map[string]any{"name": namespace.name, "create": namespace.create}
	setMap(target, "labels", namespace.labels)
	setMap(target, "annotations", namespace.annotations)
	spec := map[string]any{
		"applicationRef": map[string]any{"name": d.Application.Name, "version": d.Version},
		"namespace":      target,
	}
	setText(spec, "valuesBlock", values)
	setMap(spec, "deployOptions", options)
	setDuration(spec, "reconciliationInterval", d.Interval)
	d.add(Main, installationKind, d.Namespace, d.Name, map[string]any{"spec": spec})
}

// installOptions returns the options of the instance, which replace those of the definition, so that they have
// to repeat them.
func (d *draft) installOptions() map[string]any {
	if d.Timeout == 0 {
		return nil
	}
	options := d.deployOptions()
	if !options.wait {
		d.refuse("timeout", "is how long KKP waits for a release, and the definition does not say wait: true in spec.defaultDeployOptions.helm")
	}
	helm := map[string]any{"wait": options.wait, "timeout": options.timeout.String()}
	setTrue(helm, "atomic", options.atomic)
	setTrue(helm, "enableDNS", options.enableDNS)
	return map[string]any{"helm": helm}
}

// valuesBlock returns the values of the instance over the default values of the definition, which KKP copies for
// those who install in its user interface, not for others. Their templates are KKP's to execute. Without values
// of the instance the author's text stays as it is.
func (d *draft) valuesBlock() string {
	defaults, path, text := d.defaultValues()
	if len(d.Values) == 0 && text != "" {
		return text
	}
	merged := MergeValues(defaults, d.Values)
	if len(merged) == 0 {
		return ""
	}
	encoded, err := yaml.Marshal(merged)
	if err != nil {
		d.fault(path, "encoding the values: %v", err)
	}
	return string(encoded)
}

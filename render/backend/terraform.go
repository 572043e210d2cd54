package backend

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Terraform is the type of the backend for the tofu-controller.
const Terraform = "Terraform"

var (
	terraformKind = schema.GroupVersionKind{Group: "infra.contrib.fluxcd.io", Version: "v1alpha2", Kind: "Terraform"}
	// variablePattern is that of identifiers of HCL, in ASCII.
	variablePattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,127}$`)
)

// reservedVariables are names that no variable of a module may have.
func reservedVariables() []string {
	return []string{"count", "depends_on", "for_each", "lifecycle", "locals", "providers", "source", "version"}
}

// terraformBackend makes Terraform objects of the definitions of Cozystack whose backend is Terraform.
func terraformBackend() Backend {
	return translation{
		name:    Terraform,
		targets: []schema.GroupVersionKind{terraformKind},
		build:   func(d *draft) { d.terraform() },
	}
}

func (d *draft) terraform() {
	if !d.ofGroup(cozystackGroup) {
		return
	}
	d.unsupported("version", "namespace", "createNamespace", "releaseName", "storageNamespace", "timeout")
	module := d.spec.get("backend", "terraform")
	if d.spec.get("backend", "type").text() != Terraform || !module.isSet() {
		d.fault("spec.backend", "must have the type Terraform, and a field terraform: name another backend in the instance")
		return
	}
	d.checkSchema()
	name := d.prefixed(module)
	source := module.get("sourceRef")
	spec := map[string]any{
		"interval":  cmp.Or(d.Interval, module.get("interval").duration(), defaultInterval).String(),
		"sourceRef": source.pickTexts("apiVersion", "kind", "name", "namespace"),
	}
	source.get("name").required()
	if kind := source.get("kind").required(); kind != "" && !slices.Contains([]string{"GitRepository", "Bucket", "OCIRepository"}, kind) {
		source.get("kind").fault("%s must be GitRepository, Bucket or OCIRepository", quote(kind))
	}
	setText(spec, "path", module.get("path").text())
	setText(spec, "approvePlan", module.get("approvePlan").text())
	// Deletion of what Terraform made takes two yes: a catalog alone must not be able to bring it about.
	setTrue(spec, "destroyResourcesOnDeletion", module.get("destroyResourcesOnDeletion").isTrue() && d.DestroyResources)
	setTrue(spec, "suspend", d.Suspend)
	d.setOutputs(spec, module.get("writeOutputsToSecret"))
	d.setRunner(spec, module.get("runnerPodTemplate"))
	d.setVariables(spec)
	d.setDependencies(spec, name)
	object := d.add(Main, terraformKind, d.Namespace, name, map[string]any{"spec": spec})
	if labels := module.get("labels").labels(); len(labels) > 0 {
		object.SetLabels(labels)
	}
}

// setOutputs names the Secret of the outputs: a leading dash stands for the name of the instance.
func (d *draft) setOutputs(spec map[string]any, outputs field) {
	if !outputs.isSet() {
		return
	}
	picked := outputs.pick("name", "outputs", "labels", "annotations")
	name := outputs.get("name").required()
	if strings.HasPrefix(name, "-") {
		name = d.Name + name
	}
	picked["name"] = name
	d.subdomain("writeOutputsToSecret.name", name)
	spec["writeOutputsToSecret"] = picked
}

// setRunner passes the template of the runner's pod on. The account of the pod has a field of its own.
func (d *draft) setRunner(spec map[string]any, template field) {
	const account = "serviceAccountName"
	picked := template.pick("metadata", "spec")
	if pod, ok := picked["spec"].(map[string]any); ok {
		if delete(pod, account); len(pod) == 0 {
			delete(picked, "spec")
		}
	}
	setText(spec, account, cmp.Or(d.ServiceAccountName, template.get("spec", account).text()))
	setMap(spec, "runnerPodTemplate", picked)
}

// setVariables sets vars and varsFrom, of which tofu-controller lets varsFrom win. What comes from a Secret may
// therefore be no variable that has a value.
func (d *draft) setVariables(spec map[string]any) {
	var list []any
	for _, name := range slices.Sorted(maps.Keys(d.Values)) {
		d.variable("values."+name, name)
		if value := d.Values[name]; value != nil {
			list = append(list, map[string]any{"name": name, "value": clone(value)})
		}
	}
	if len(list) > 0 {
		spec["vars"] = list
	}
	var from []any
	for i, reference := range d.ValuesFrom {
		at := indexed("valuesFrom", i)
		if reference.ValuesKey == "" || reference.TargetPath == "" {
			d.refuse(at, "needs valuesKey and targetPath, the name of a variable: all keys of %s would win over values", quote(reference.Name))
			continue
		}
		d.variable(at+".targetPath", reference.TargetPath)
		if _, isSet := d.Values[reference.TargetPath]; isSet {
			d.refuse(at+".targetPath", "%s is also in values, or in the overrides of the selection, over which it would win: leave one out", quote(reference.TargetPath))
		}
		entry := map[string]any{"kind": reference.Kind, "name": reference.Name, "varsKeys": []any{reference.ValuesKey + ":" + reference.TargetPath}}
		setTrue(entry, "optional", reference.Optional)
		from = append(from, entry)
	}
	if len(from) > 0 {
		spec["varsFrom"] = from
	}
}

func (d *draft) variable(path, name string) {
	if !variablePattern.MatchString(name) || slices.Contains(reservedVariables(), name) {
		d.refuse(path, "%s is no name of a variable of Terraform", quote(name))
	}
}

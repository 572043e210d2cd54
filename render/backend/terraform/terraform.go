// SPDX-License-Identifier: Apache-2.0

// Package terraform is the backend whose Terraform objects the tofu-controller plans and applies, of definitions of
// Cozystack. It must not know charts.
package terraform

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/backend/cozystack"
	"github.com/winnow-dev/winnow/render/backend/draft"
	"github.com/winnow-dev/winnow/render/backend/field"
	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/definition"
	"github.com/winnow-dev/winnow/render/excerpt"
)

var (
	// variablePattern matches identifiers of HCL, in ASCII.
	variablePattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,127}$`)
	// namePattern is the template that stands for the name of the instance.
	namePattern = regexp.MustCompile(`\{\{\s*\.name\s*\}\}`)
)

// reservedVariables are names that no variable of a module may have.
func reservedVariables() []string {
	return []string{"count", "depends_on", "for_each", "lifecycle", "locals", "providers", "source", "version"}
}

// Fill makes a Terraform object of a definition of Cozystack whose backend is Terraform.
func Fill(d *draft.Draft) {
	if !d.Installs(d.Application.OfCozystack()) {
		return
	}
	d.Unsupported("version", "namespace", "createNamespace", "releaseName", "storageNamespace", "timeout", "deploy.wait", "deploy.atomic")
	chosen := definition.BackendOf(d.Spec)
	module := chosen.Part
	if chosen.Type != backend.Terraform || !module.IsSet() {
		d.Fault("spec.backend", "must have the type Terraform, and a field terraform: name another backend in the instance")
		return
	}
	cozystack.CheckSchema(d)
	name := cozystack.Prefixed(d, module)
	source := module.Get("sourceRef")
	spec := map[string]any{
		"interval":  cmp.Or(d.Interval, module.Get("interval").Duration(), draft.DefaultInterval).String(),
		"sourceRef": source.PickTexts("apiVersion", "kind", "name", "namespace"),
	}
	source.Get("name").Required()
	if kind := source.Get("kind").Required(); kind != "" && !slices.Contains([]string{"GitRepository", "Bucket", "OCIRepository"}, kind) {
		source.Get("kind").Fault("%s must be GitRepository, Bucket or OCIRepository", excerpt.Quoted(kind))
	}
	draft.Set(spec, "path", module.Get("path").Text())
	draft.Set(spec, "approvePlan", module.Get("approvePlan").Text())
	// Deletion of what Terraform made takes two yes: a catalog alone must not be able to bring it about.
	draft.Set(spec, "destroyResourcesOnDeletion", module.Get("destroyResourcesOnDeletion").IsTrue() && d.DestroyResources)
	draft.Set(spec, "suspend", d.Suspend)
	if d.Deploy.Retries != nil {
		spec["remediation"] = map[string]any{"retries": int64(*d.Deploy.Retries)}
	}
	setOutputs(d, spec, module.Get("writeOutputsToSecret"))
	setRunner(d, spec, module.Get("runnerPodTemplate"))
	setVariables(d, spec)
	d.SetDependencies(spec, name)
	d.Add(backend.Main, kinds.Terraform, d.Namespace, name, map[string]any{"spec": spec}).SetLabels(cozystack.Labels(d, module))
}

// setOutputs names the Secret of the outputs: {{ .name }} stands for the name of the instance, and a leading dash follows it.
func setOutputs(d *draft.Draft, spec map[string]any, outputs field.Field) {
	if !outputs.IsSet() {
		return
	}
	picked := outputs.Pick("name", "outputs", "labels", "annotations")
	name := namePattern.ReplaceAllLiteralString(outputs.Get("name").Required(), d.Name)
	if strings.HasPrefix(name, "-") {
		name = d.Name + name
	}
	picked["name"] = name
	d.Subdomain("writeOutputsToSecret.name", name)
	spec["writeOutputsToSecret"] = picked
}

// setRunner passes the template of the runner's pod on. The account of the pod has a field of its own.
func setRunner(d *draft.Draft, spec map[string]any, template field.Field) {
	const account = "serviceAccountName"
	picked := template.Pick("metadata", "spec")
	if pod, ok := picked["spec"].(map[string]any); ok {
		if delete(pod, account); len(pod) == 0 {
			delete(picked, "spec")
		}
	}
	draft.Set(spec, account, cmp.Or(d.ServiceAccountName, template.Get("spec", account).Text()))
	draft.SetMap(spec, "runnerPodTemplate", picked)
}

// setVariables sets vars and varsFrom. In tofu-controller varsFrom wins, so what comes from a Secret may be no
// variable that has a value.
func setVariables(d *draft.Draft, spec map[string]any) {
	var list []any
	for _, name := range slices.Sorted(maps.Keys(d.Values)) {
		variable(d, "values."+name, name)
		if value := d.Values[name]; value != nil {
			list = append(list, map[string]any{"name": name, "value": backend.Clone(value)})
		}
	}
	if len(list) > 0 {
		spec["vars"] = list
	}
	var from []any
	for i, reference := range d.ValuesFrom {
		at := backend.Indexed("valuesFrom", i)
		if reference.ValuesKey == "" || reference.TargetPath == "" {
			d.Refuse(at, "needs valuesKey and targetPath, the name of a variable: all keys of %s would win over values", excerpt.Quoted(reference.Name))
			continue
		}
		variable(d, at+".targetPath", reference.TargetPath)
		if _, isSet := d.Values[reference.TargetPath]; isSet {
			d.Refuse(at+".targetPath", "%s is also in values, or in the overrides of the selection, over which it would win: leave one out", excerpt.Quoted(reference.TargetPath))
		}
		entry := map[string]any{"kind": reference.Kind, "name": reference.Name, "varsKeys": []any{reference.ValuesKey + ":" + reference.TargetPath}}
		draft.Set(entry, "optional", reference.Optional)
		from = append(from, entry)
	}
	if len(from) > 0 {
		spec["varsFrom"] = from
	}
}

func variable(d *draft.Draft, path, name string) {
	if !variablePattern.MatchString(name) || slices.Contains(reservedVariables(), name) {
		d.Refuse(path, "%s is no name of a variable of Terraform", excerpt.Quoted(name))
	}
}

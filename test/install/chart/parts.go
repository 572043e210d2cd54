// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// part is a directory of config, and a file in the templates of the chart.
type part struct {
	dir  string
	when string // condition of its objects; empty: always
	each string // list of the namespaces that have its objects, in place of that of Flux; empty: one set of objects
}

// multitenant is the condition of what config/multitenant changes.
const multitenant = ".Values.multitenant.enabled"

// registries is the list of the namespaces whose Secrets the controller may read.
const registries = `prepend .Values.registries.namespaces (ternary .Values.flux.namespace "" (and .Values.registries.enabled (not ` + multitenant + `))) | compact | uniq`

// parts returns the parts of an installation, each before those that need it, and then the optional ones.
func parts() []part {
	return []part{
		{dir: "crd", when: ".Values.crds.install"},
		{dir: "rbac"},
		{dir: "marks", when: ".Values.marks.enabled"},
		{dir: "registries", each: registries},
		{dir: "registries/all-namespaces", when: ".Values.registries.allNamespaces"},
		{dir: "manager"},
		{dir: "network-policy", when: ".Values.networkPolicy.enabled"},
		{dir: "monitoring", when: ".Values.monitoring.enabled"},
		{dir: "workload-identity", when: ".Values.workloadIdentity.enabled"},
		{dir: "policies", when: ".Values.policies.enabled"},
		{dir: "policies/bypass", when: ".Values.policies.bypass"},
	}
}

// ownNamespace is the condition of what config/default has besides the parts, and config/overlays/flux-system has not:
// beside Flux, a quota and a policy of Flux do the same.
const ownNamespace = `ne .Release.Namespace .Values.flux.namespace`

// object is one of a kustomization.
type object struct {
	id, kind, text string
}

// render builds a kustomization.
func render(dir string) ([]object, error) {
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return nil, err
	}
	return objects(built)
}

func objects(built resmap.ResMap) (all []object, err error) {
	for _, resource := range built.Resources() {
		if err := resource.PipeE(yaml.SetLabel("helm.sh/chart", "winnow")); err != nil { // for labeled
			return nil, err
		}
		text, err := resource.AsYAML()
		if err != nil {
			return nil, err
		}
		all = append(all, object{resource.CurId().String(), resource.GetKind(), string(text)})
	}
	return all, nil
}

// generate returns the generated files of the chart by their paths.
func generate(config string) (map[string]string, error) {
	plain, err := render(filepath.Join(config, "default"))
	if err != nil {
		return nil, err
	}
	locked, err := render(filepath.Join(config, "overlays", "multitenant"))
	if err != nil {
		return nil, err
	}
	installed := variants{index(plain), index(locked)}
	files, taken := map[string]string{}, map[string]bool{}
	for _, part := range parts() {
		own, err := render(filepath.Join(config, part.dir))
		if err != nil {
			return nil, err
		}
		var documents []string
		for _, o := range own {
			text, err := installed.template(o)
			if part.each != "" {
				text, err = inEach(o)
			}
			if err != nil {
				return nil, err
			}
			taken[o.id] = true
			documents = append(documents, text)
		}
		files["templates/"+strings.ReplaceAll(part.dir, "/", "-")+".yaml"] = file(part, documents)
	}
	own, tenants, err := installed.rest(plain, locked, taken)
	if err != nil {
		return nil, err
	}
	files["templates/default.yaml"] = file(part{dir: "default", when: ownNamespace}, own)
	files["templates/multitenant.yaml"] = file(part{dir: "multitenant", when: multitenant}, tenants)
	files["values.yaml"], err = values(plain)
	return files, err
}

// rest returns the templates of the objects that are in no part: those of config/default itself, and those that the
// installation for tenants adds.
func (v variants) rest(plain, locked []object, taken map[string]bool) (own, tenants []string, err error) {
	for _, o := range plain {
		// Helm creates the namespace of a release, or finds it.
		if taken[o.id] || o.kind == "Namespace" {
			continue
		}
		text, err := v.template(o)
		if err != nil {
			return nil, nil, err
		}
		if o.kind == "NetworkPolicy" {
			text = conditional(".Values.networkPolicy.enabled", text)
		}
		own = append(own, text)
	}
	for _, o := range locked {
		if _, both := v.plain[o.id]; both || taken[o.id] {
			continue
		}
		text, err := expressions(o)
		if err != nil {
			return nil, nil, err
		}
		tenants = append(tenants, text)
	}
	return own, tenants, nil
}

func index(objects []object) map[string]object {
	byID := map[string]object{}
	for _, o := range objects {
		byID[o.id] = o
	}
	return byID
}

// file joins documents to a template.
func file(p part, documents []string) string {
	text := fmt.Sprintf("# SPDX-License-Identifier: Apache-2.0\n\n# Generated from config/%s by make generate.\n", p.dir)
	joined := "---\n" + strings.Join(documents, "---\n")
	switch {
	case p.each != "":
		return text + "{{- range " + p.each + " }}\n" + joined + "{{- end }}\n"
	case p.when != "":
		return text + conditional(p.when, joined)
	}
	return text + joined
}

func conditional(when, text string) string {
	return "{{- if " + when + " }}\n" + text + "{{- end }}\n"
}

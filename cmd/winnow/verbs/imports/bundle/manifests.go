// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/winnow-dev/winnow/render/catalog/document"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// csvVersion is the API of ClusterServiceVersions.
const csvVersion = "operators.coreos.com/v1alpha1"

// readManifests reads the objects of a bundle, and what its ClusterServiceVersion says.
func (r *reader) readManifests(b *Bundle) error {
	names, err := r.names(ManifestsDirectory)
	if err != nil {
		return err
	}
	var csv *file
	broken := false // reports whether a file has to be corrected before more can be said
	taken := map[[2]string]string{}
	for _, name := range names {
		f, err := r.read(name)
		if err != nil {
			return err
		}
		if f == nil {
			broken = true
			continue
		}
		object, ok := f.object()
		key := [2]string{object.Kind, object.Name}
		switch other := taken[key]; {
		case !ok:
		case object.Kind == KindCSV && csv != nil:
			f.Add(f.root.Line, "is a second %s beside %s: a bundle is one version of an operator", KindCSV, csv.Path)
		case other != "":
			f.Add(f.root.Line, "%s %s is in %s, too", object.Kind, excerpt.Quoted(object.Name), other)
		default:
			taken[key] = name
			b.Objects = append(b.Objects, object)
			if object.Kind == KindCSV && f.decode(&b.CSV) {
				csv = f
				continue // it is checked last
			}
			b.Provided = append(b.Provided, f.provided(object)...)
		}
		broken = broken || len(f.Kept) > 0
		r.report.Merge(f.Findings)
	}
	switch {
	case csv != nil:
		csv.check(b)
		if !broken {
			csv.checkDefinitions(b)
		}
		r.report.Merge(csv.Findings)
	case !broken:
		r.report.Add(ManifestsDirectory, "has no %s, which describes the operator and its version", KindCSV)
	}
	return nil
}

// object returns the manifest; not ok for one that OLM cannot create.
func (f *file) object() (o Object, ok bool) {
	o.Path = f.Path
	version, hasVersion := document.RequiredText(f.root, f.at("apiVersion"), "apiVersion", &f.Findings)
	kind, hasKind := document.RequiredText(f.root, f.at("kind"), "kind", &f.Findings)
	o.Kind = kind
	if document.RequiredMapping(f.root, f.at("metadata"), "metadata", &f.Findings) {
		o.Name, ok = document.RequiredText(f.at("metadata"), f.at("metadata", "name"), "metadata.name", &f.Findings)
	}
	if _, supported := scopes[kind]; hasKind && !supported {
		f.Add(f.line("kind"), "kind %s is none that a bundle may have: %s", excerpt.Quoted(kind), strings.Join(slices.Sorted(maps.Keys(scopes)), ", "))
		return o, false
	}
	if kind == KindCSV && hasVersion && version != csvVersion {
		f.Add(f.line("apiVersion"), "apiVersion of a %s must be %s, not %s", KindCSV, csvVersion, excerpt.Quoted(version))
		return o, false
	}
	var content any
	err := utiljson.Unmarshal(f.json, &content)
	if err == nil {
		o.JSON, err = json.Marshal(content)
	}
	if err != nil {
		f.Add(0, "cannot be converted to JSON: %s", err)
	}
	return o, ok && hasVersion && hasKind && err == nil
}

// provided returns the APIs of a CustomResourceDefinition.
func (f *file) provided(o Object) (apis []API) {
	if o.Kind != crdKind {
		return nil
	}
	var crd apiextensionsv1.CustomResourceDefinition
	var old apiextensionsv1beta1.CustomResourceDefinition
	version, _ := yamlnode.Text(f.at("apiVersion"))
	switch version {
	case apiextensionsv1.SchemeGroupVersion.String():
		if !f.decode(&crd) {
			return nil
		}
		for _, one := range crd.Spec.Versions {
			apis = append(apis, API{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind, Version: one.Name})
		}
	case apiextensionsv1beta1.SchemeGroupVersion.String():
		if !f.decode(&old) {
			return nil
		}
		crd.Spec.Group, crd.Spec.Names.Plural = old.Spec.Group, old.Spec.Names.Plural
		for _, one := range append(old.Spec.Versions, apiextensionsv1beta1.CustomResourceDefinitionVersion{Name: old.Spec.Version}) {
			if one.Name != "" {
				apis = append(apis, API{Group: old.Spec.Group, Kind: old.Spec.Names.Kind, Version: one.Name})
			}
		}
	default:
		f.Add(f.line("apiVersion"), "apiVersion of a %s must be %s, not %s", crdKind, apiextensionsv1.SchemeGroupVersion, excerpt.Quoted(version))
		return nil
	}
	if want := crd.Spec.Names.Plural + "." + crd.Spec.Group; o.Name != want {
		f.Add(f.line("metadata", "name"), "metadata.name must be spec.names.plural.spec.group, %s", excerpt.Quoted(want))
	}
	return apis
}

// check reports what is wrong with the ClusterServiceVersion, and reads its properties.
func (f *file) check(b *Bundle) {
	meta, spec := b.CSV.Metadata, &b.CSV.Spec
	for _, problem := range append(validation.IsDNS1123Subdomain(meta.Name), validation.IsValidLabelValue(meta.Name)...) {
		f.Add(f.line("metadata", "name"), "metadata.name: %s", problem)
	}
	if _, err := semver.Parse(spec.Version); err != nil {
		f.Add(f.line("spec", "version"), "spec.version %s is no semantic version: %s", excerpt.Quoted(spec.Version), err)
	}
	for i, one := range spec.Install.Spec.Deployments {
		f.checkDeployment(f.itemLine(i, "spec", "install", "spec", "deployments"), one.Spec)
	}
	b.OwnProperties = f.ownProperties()
}

// checkDeployment reports what opm cannot read in the spec of a deployment, which is in a line.
func (f *file) checkDeployment(line int, spec []byte) {
	containers, err := containersOf(spec)
	if err != nil {
		problem := mistake(err)
		f.Add(line, "spec.install.spec.deployments: spec.%s %s", problem.At, problem.Message)
	}
	for _, one := range containers {
		if one.Image == "" && err == nil {
			f.Add(line, "spec.install.spec.deployments: the container %s has no image", excerpt.Quoted(one.Name))
		}
	}
}

// checkDefinitions reports definitions that the operator owns and the bundle lacks, and names that are none.
func (f *file) checkDefinitions(b *Bundle) {
	for _, list := range []struct {
		name        string
		definitions []Definition
	}{{"owned", b.CSV.Spec.CRDs.Owned}, {"required", b.CSV.Spec.CRDs.Required}} {
		for i, one := range list.definitions {
			line := f.itemLine(i, "spec", "customresourcedefinitions", list.name)
			field := "spec.customresourcedefinitions." + list.name
			switch api := one.API(); {
			case api.Group == "":
				f.Add(line, "%s: name %s must name a definition: plural.group", field, excerpt.Quoted(one.Name))
			case list.name == "owned" && (!slices.Contains(b.Provided, api) || !b.has(crdKind, one.Name)):
				f.Add(line, "%s: the bundle has no %s %s with the kind %s in the version %s",
					field, crdKind, excerpt.Of(one.Name), excerpt.Of(one.Kind), excerpt.Of(one.Version))
			}
		}
	}
}

func (b *Bundle) has(kind, name string) bool {
	return slices.ContainsFunc(b.Objects, func(o Object) bool { return o.Kind == kind && o.Name == name })
}

// PropertiesAnnotation of the ClusterServiceVersion has properties as JSON.
const PropertiesAnnotation = "olm.properties"

// ownProperties returns the properties of the ClusterServiceVersion.
func (f *file) ownProperties() (properties []Property) {
	text, ok := yamlnode.Text(f.at("metadata", "annotations", PropertiesAnnotation))
	if !ok {
		return nil
	}
	line := f.line("metadata", "annotations", PropertiesAnnotation)
	if err := json.Unmarshal([]byte(text), &properties); err != nil {
		f.Add(line, "%s is no list of properties in JSON: %s", PropertiesAnnotation, err)
		return nil
	}
	for i, one := range properties {
		problem := checkProperty(one)
		if one.Type == "" || len(one.Value) == 0 || bytes.Equal(one.Value, []byte("null")) {
			problem = "type or value is missing"
		}
		if problem != "" {
			f.Add(line, "%s: %s: %s", PropertiesAnnotation, excerpt.Of(one.Type), problem)
		}
		var compact bytes.Buffer
		if json.Compact(&compact, one.Value) == nil {
			properties[i].Value = compact.Bytes()
		}
	}
	return properties
}

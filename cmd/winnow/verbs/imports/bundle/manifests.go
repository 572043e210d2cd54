package bundle

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/winnow-dev/winnow/render/catalog/document"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// The API of definitions, without its version, and that of ClusterServiceVersions.
const (
	crdGroup   = "apiextensions.k8s.io/"
	csvVersion = "operators.coreos.com/v1alpha1"
)

// readManifests reads the objects of a bundle, and what its ClusterServiceVersion says.
func (r *reader) readManifests(b *Bundle) error {
	names, err := r.names(ManifestsDirectory)
	if err != nil {
		return err
	}
	var csv *file
	taken := map[[2]string]string{}
	for _, name := range names {
		f, err := r.read(name)
		if err != nil {
			return err
		}
		if f == nil {
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
		r.report.Merge(f.Findings)
	}
	if csv != nil {
		csv.check(b)
		r.report.Merge(csv.Findings)
	} else if r.report.Err() == nil {
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
	var crd struct {
		APIVersion string `json:"apiVersion"`
		Spec       struct {
			Group    string
			Names    struct{ Kind, Plural string }
			Version  string // of v1beta1
			Versions []struct{ Name string }
		}
	}
	if !f.decode(&crd) {
		return nil
	}
	switch crd.APIVersion {
	case crdGroup + "v1":
		crd.Spec.Version = ""
	case crdGroup + "v1beta1":
	default:
		f.Add(f.line("apiVersion"), "apiVersion of a %s must be %sv1, not %s", crdKind, crdGroup, excerpt.Quoted(crd.APIVersion))
	}
	if want := crd.Spec.Names.Plural + "." + crd.Spec.Group; o.Name != want {
		f.Add(f.line("metadata", "name"), "metadata.name must be spec.names.plural.spec.group, %s", excerpt.Quoted(want))
	}
	versions := crd.Spec.Versions
	if crd.Spec.Version != "" {
		versions = append(versions, struct{ Name string }{crd.Spec.Version})
	}
	for _, one := range versions {
		api := API{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind, Version: one.Name}
		if !slices.Contains(apis, api) {
			apis = append(apis, api)
		}
	}
	return apis
}

// check reports what is wrong with the ClusterServiceVersion, given the definitions of the bundle.
func (f *file) check(b *Bundle) {
	meta, spec := b.CSV.Metadata, &b.CSV.Spec
	for _, problem := range append(validation.IsDNS1123Subdomain(meta.Name), validation.IsValidLabelValue(meta.Name)...) {
		f.Add(f.line("metadata", "name"), "metadata.name: %s", problem)
	}
	if _, err := semver.Parse(spec.Version); err != nil {
		f.Add(f.line("spec", "version"), "spec.version %s is no semantic version: %s", excerpt.Quoted(spec.Version), err)
	}
	f.checkDefinitions(b)
	b.OwnProperties = f.ownProperties()
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
				f.Add(line, "%s: name %s must be that of a definition: plural.group", field, excerpt.Quoted(one.Name))
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

// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
)

// legacy is the share of packages, in percent, whose bundles have their manifests instead of metadata.
const legacy = 2

// api is a kind that an operator provides.
type api struct{ group, version, kind string }

func (a api) plural() string { return strings.ToLower(a.kind) + "s" }

// bundles returns what makes the bundle of a version: most of one is the same as in the others.
func (o operator) bundles() func(version) olmBundle {
	apis := make([]api, 1+o.IntN(8))
	for i := range apis {
		apis[i] = api{group: o.name + ".example.com", version: "v1alpha1", kind: title(o.word()) + title(o.word()) + fmt.Sprint(i)}
	}
	metadata := o.metadata(apis)
	isLegacy, digest := o.chance(legacy), o.chance(50)
	repository := "quay.io/" + o.word() + "/" + o.name
	return func(v version) olmBundle {
		reference := repository + ":v" + v.String()
		if digest {
			reference = fmt.Sprintf("%s@sha256:%016x%016x%016x%016x", repository, o.Uint64(), o.Uint64(), o.Uint64(), o.Uint64())
		}
		made := olmBundle{Schema: "olm.bundle", Name: o.bundleName(v), Package: o.name, Image: reference}
		for _, one := range apis {
			made.Properties = append(made.Properties, property{"olm.gvk", map[string]string{"group": one.group, "kind": one.kind, "version": one.version}})
		}
		made.Properties = append(made.Properties, property{"olm.package", map[string]string{"packageName": o.name, "version": v.String()}})
		if isLegacy {
			made.Properties = append(made.Properties, o.manifests(v)...)
		} else {
			made.Properties = append(made.Properties, property{"olm.csv.metadata", metadata(v)})
		}
		for i := range 1 + o.IntN(4) {
			made.RelatedImages = append(made.RelatedImages, image{Name: o.word(), Image: fmt.Sprintf("%s-%d:v%s", repository, i, v)})
		}
		return made
	}
}

// metadata returns what makes the value of the property olm.csv.metadata.
func (o operator) metadata(apis []api) func(version) map[string]any {
	var owned []any
	var examples []any
	for _, one := range apis {
		owned = append(owned, map[string]any{
			"name": one.plural() + "." + one.group, "kind": one.kind, "version": one.version, "displayName": title(o.word()),
			"description": o.sentence(10), "specDescriptors": o.descriptors(), "statusDescriptors": o.descriptors(),
		})
		examples = append(examples, map[string]any{
			"apiVersion": one.group + "/" + one.version, "kind": one.kind, "metadata": map[string]string{"name": "sample"}, "spec": o.values(2),
		})
	}
	text, _ := json.MarshalIndent(examples, "", "  ") // of strings and numbers
	description, name, created := o.markdown(), title(o.word())+" Operator", o.IntN(28)
	keywords, capability := []string{o.word(), o.word(), o.word()}, []string{"Basic Install", "Seamless Upgrades", "Deep Insights"}[o.IntN(3)]
	return func(v version) map[string]any {
		return map[string]any{
			"annotations": map[string]string{
				"alm-examples": string(text), "capabilities": capability, "categories": "Database", "certified": "false",
				"containerImage": "quay.io/" + o.name + ":" + v.String(), "createdAt": fmt.Sprintf("2026-08-%02dT12:00:00Z", created+1),
				"description": keywords[0] + " for clusters", "support": "Example",
			},
			"apiServiceDefinitions": map[string]any{},
			"crdDescriptions":       map[string]any{"owned": owned},
			"description":           description,
			"displayName":           name,
			"installModes": []any{
				map[string]any{"type": "OwnNamespace", "supported": true}, map[string]any{"type": "SingleNamespace", "supported": true},
				map[string]any{"type": "MultiNamespace", "supported": false}, map[string]any{"type": "AllNamespaces", "supported": true},
			},
			"keywords":       keywords,
			"links":          []any{map[string]string{"name": "Documentation", "url": "https://docs.example.com/" + o.name}},
			"maintainers":    []any{map[string]string{"name": "Maintainers", "email": o.name + "@example.com"}},
			"maturity":       "alpha",
			"minKubeVersion": "1.25.0",
			"provider":       map[string]string{"name": "Example"},
		}
	}
}

func (o operator) descriptors() []any {
	made := []any{}
	for range o.IntN(6) {
		one := map[string]any{"path": o.word() + "." + o.word(), "displayName": title(o.word()) + " " + title(o.word()), "description": o.sentence(8)}
		if o.chance(60) {
			one["x-descriptors"] = []string{"urn:alm:descriptor:com.tectonic.ui:" + o.word(), "urn:alm:descriptor:io.kubernetes:Secret"}
		}
		made = append(made, one)
	}
	return made
}

// values returns a specification of an example.
func (o operator) values(depth int) map[string]any {
	made := map[string]any{}
	for range 1 + o.IntN(4) {
		switch {
		case depth > 0 && o.chance(40):
			made[o.word()] = o.values(depth - 1)
		case o.chance(50):
			made[o.word()] = o.IntN(100)
		default:
			made[o.word()] = o.word()
		}
	}
	return made
}

// manifests returns the ClusterServiceVersion as the property olm.bundle.object.
func (o operator) manifests(v version) []property {
	manifest, _ := json.Marshal(map[string]any{ // of strings
		"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion", "metadata": map[string]string{"name": o.bundleName(v)},
		"spec": map[string]any{"version": v.String(), "displayName": o.name, "description": o.markdown()},
	})
	return []property{{"olm.bundle.object", map[string]string{"data": base64.StdEncoding.EncodeToString(manifest)}}}
}

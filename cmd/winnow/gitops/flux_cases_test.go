// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"fmt"
	"math/rand/v2"
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// newFluxCase makes a case. Each part of it is there with some chance.
func newFluxCase(number int, random *rand.Rand) *fluxCase {
	c := &fluxCase{
		Rand: random, number: number, files: map[string]string{}, dir: fmt.Sprintf("app%d", number), spec: map[string]any{},
		maps: map[string]*unstructured.Unstructured{},
	}
	c.addVariables()
	c.addTransforms()
	c.addDirectory(c.dir, 0, true)
	c.spec["path"] = "./" + c.dir
	c.spec["sourceRef"] = map[string]any{"kind": "GitRepository", "name": "fleet"}
	cluster := "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: fleet, namespace: flux-system}\n" +
		"spec: {url: 'https://git.example.com/org/fleet'}\n---\n" + textOf(map[string]any{
		"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
		"metadata": map[string]any{"name": "app", "namespace": "flux-system"}, "spec": c.spec,
	})
	for _, name := range []string{"ConfigMap/one", "ConfigMap/two", "Secret/three"} {
		if found := c.maps[name]; found != nil {
			cluster += "---\n" + textOf(found.Object)
		}
	}
	c.files[fmt.Sprintf("cluster%d/flux.yaml", number)] = cluster
	return c
}

func textOf(value any) string {
	text, err := yaml.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// chance reports true in percent of all calls.
func (c *fluxCase) chance(percent int) bool { return c.IntN(100) < percent }

func (c *fluxCase) one(of ...string) string { return of[c.IntN(len(of))] }

func (c *fluxCase) name() string {
	c.names++
	return fmt.Sprintf("%s%d", c.one("web", "db", "cache"), c.names)
}

// addDirectory adds a directory with the directories that it is built of. Flux generates a missing kustomization file for whole
// directories only: generated reports that one above has none.
func (c *fluxCase) addDirectory(dir string, depth int, generated bool) {
	generated = generated && c.chance(30)
	var resources []any
	for range 1 + c.IntN(2) {
		file := c.name() + c.one(".yaml", ".yml")
		c.files[path.Join(dir, file)] = c.documents()
		resources = append(resources, file)
	}
	if depth < 2 && c.chance(40) {
		below := c.name()
		c.addDirectory(path.Join(dir, below), depth+1, generated)
		resources = append(resources, below)
	}
	if depth == 0 && !generated && c.chance(30) {
		base := fmt.Sprintf("base%d", c.number)
		c.addDirectory(base, 2, c.chance(5))
		resources = append(resources, "../"+base)
	}
	if c.chance(10) {
		c.files[path.Join(dir, "notes.txt")] = "no object: ${A}\n"
	}
	if generated {
		return
	}
	k := map[string]any{"resources": resources}
	c.addFields(dir, k)
	c.files[path.Join(dir, c.one("kustomization.yaml", "kustomization.yml", "Kustomization"))] = textOf(k)
}

// addFields adds fields of a kustomization file.
func (c *fluxCase) addFields(dir string, k map[string]any) {
	if c.chance(20) {
		k["apiVersion"], k["kind"] = "kustomize.config.k8s.io/v1beta1", "Kustomization"
	}
	for _, field := range []struct {
		name  string
		value any
	}{
		{"namePrefix", "p-"}, {"nameSuffix", "-s"}, {"namespace", "own"}, {"commonLabels", map[string]any{"team": "a"}},
		{"commonAnnotations", map[string]any{"note": "${A}"}}, {"sortOptions", map[string]any{"order": "legacy"}},
		{"labels", []any{map[string]any{"pairs": map[string]any{"tier": "${B:=front}"}, "includeSelectors": false}}},
		{"images", []any{map[string]any{"name": "nginx", "newTag": "1.29"}, map[string]any{"name": "redis", "digest": "sha256:" + strings.Repeat("ab", 32)}}},
		{"configMapGenerator", []any{map[string]any{"name": "made", "literals": []any{"key=" + c.text()}, "files": []any{"made.txt"}}}},
		{"secretGenerator", []any{map[string]any{"name": "made", "literals": []any{"key=" + c.text()}, "options": map[string]any{"disableNameSuffixHash": true}}}},
		{"patches", c.patches(dir)},
		{"components", []any{"component"}},
		{"replacements", []any{map[string]any{
			"source": map[string]any{"kind": "ConfigMap", "name": "source", "fieldPath": "data.key"},
			"targets": []any{map[string]any{
				"select": map[string]any{"kind": "HelmRelease"}, "fieldPaths": []any{"spec.chart.spec.version"}, "options": map[string]any{"create": true},
			}},
		}}},
	} {
		if !c.chance(15) {
			continue
		}
		k[field.name] = field.value
		switch field.name {
		case "components":
			c.addComponent(path.Join(dir, "component"))
		case "replacements":
			c.files[path.Join(dir, "source.yaml")] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: source}\ndata: {key: \"${A:-1}\"}\n"
			k["resources"] = append(k["resources"].([]any), "source.yaml")
		case "configMapGenerator":
			c.files[path.Join(dir, "made.txt")] = c.text() + "\n"
		}
	}
}

func (c *fluxCase) addComponent(dir string) {
	k := map[string]any{"apiVersion": "kustomize.config.k8s.io/v1alpha1", "kind": "Component", "patches": c.patches(dir)}
	if c.chance(50) {
		c.files[dir+"/more.yaml"] = c.documents()
		k["resources"] = []any{"more.yaml"}
	}
	c.files[dir+"/kustomization.yaml"] = textOf(k)
}

// patches returns patches as a kustomization file and the spec of a Kustomization have them; those with dir may be in a file.
func (c *fluxCase) patches(dir string) []any {
	target := map[string]any{"kind": c.one("ConfigMap", "HelmRelease", "Deployment", "Secret")}
	if c.chance(20) {
		target["labelSelector"] = "app=a"
	}
	if c.chance(20) {
		target["name"] = "web.*"
	}
	patch := c.one(
		"- {op: add, path: /metadata/annotations, value: {patched: '${A:=none}'}}\n",
		"- {op: replace, path: /metadata/name, value: renamed}\n",
		"- {op: remove, path: /data}\n",
		"- {op: test, path: /kind, value: ConfigMap}\n- {op: add, path: /metadata/labels, value: {a: b}}\n",
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: any}\ndata: {patched: \"${B:-two}\", key: null}\n",
		"apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: any}\nspec: {values: {image: {tag: '${C}'}, list: [a]}}\n",
		"$patch: delete\napiVersion: v1\nkind: Secret\nmetadata: {name: any}\n",
	)
	one := map[string]any{"patch": patch, "target": target}
	if dir != "" && c.chance(30) {
		delete(one, "patch")
		file := c.name() + ".patch"
		c.files[path.Join(dir, file)] = patch
		one["path"] = file
	}
	return []any{one}
}

// documents returns the text of a file with objects.
func (c *fluxCase) documents() string {
	var all []string
	for range 1 + c.IntN(3) {
		all = append(all, c.object())
	}
	text := strings.Join(all, "---\n")
	switch {
	case c.chance(5):
		text = "# a comment alone\n---\n" + text + "---\n"
	case c.chance(4):
		text += "---\n" + c.one("kind: ConfigMap\n", "a: [\n", "text\n", "apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n", "null\n")
	}
	return text
}

func (c *fluxCase) object() string {
	metadata := map[string]any{"name": c.name()}
	if c.chance(10) {
		metadata["name"] = c.one("${A:=one}-x", "one-x", "x${D:=y}", "web1")
	}
	if c.chance(30) {
		metadata["namespace"] = c.one("own", "other", "${B:=default}")
	}
	if c.chance(20) {
		metadata["labels"] = map[string]any{"app": c.one("a", "b")}
	}
	if c.chance(10) {
		field := c.one("labels", "annotations")
		metadata[field] = map[string]any{"kustomize.toolkit.fluxcd.io/substitute": c.one("disabled", "disabled", "Disabled", "enabled")}
	}
	if c.chance(3) {
		metadata["annotations"] = map[string]any{"config.kubernetes.io/local-config": "true"}
	}
	object := map[string]any{"metadata": metadata}
	set := func(apiVersion, kind, field string, value any) {
		object["apiVersion"], object["kind"], object[field] = apiVersion, kind, value
	}
	number := 9007199254740993
	if c.spec["postBuild"] != nil {
		number = c.IntN(5) // Flux rounds others
	}
	containers := []any{map[string]any{"name": "a", "image": c.one("nginx:1.27", "redis", "example.com/app:${A:=1}")}}
	kind := c.IntN(8)
	if kind == 5 && c.names%2 == 0 {
		kind = 0 // with another Namespace, a namespace is often refused
	}
	switch kind {
	case 0, 1, 2:
		set("v1", "ConfigMap", "data", map[string]any{"key": c.text(), "more": c.text(), "lines": c.text() + "\n" + c.text() + c.one("", "\n")})
	case 3:
		set("v1", "Secret", "stringData", map[string]any{"key": c.text()})
	case 4:
		set("helm.toolkit.fluxcd.io/v2", "HelmRelease", "spec", map[string]any{
			"chart":  map[string]any{"spec": map[string]any{"chart": "a", "version": c.one("1.0.0", "${A:=2}"), "sourceRef": map[string]any{"kind": "HelmRepository", "name": "a"}}},
			"values": map[string]any{"text": c.text(), "number": number, "float": 1.50, "true": c.chance(50), "none": nil, "list": []any{c.text(), 1}, "containers": containers},
		})
	case 5:
		set("v1", "Namespace", "spec", map[string]any{})
		delete(metadata, "namespace")
	case 6:
		set("catalog.winnow.dev/v1alpha1", "CatalogSelection", "spec", map[string]any{"sources": []any{map[string]any{"name": "catalog"}}, "exclude": []any{c.text()}})
	case 7:
		set("apps/v1", "Deployment", "spec", map[string]any{"template": map[string]any{"spec": map[string]any{"containers": containers}}})
	}
	if c.chance(5) {
		return textOf(map[string]any{"apiVersion": "v1", "kind": "List", "items": []any{object}})
	}
	return textOf(object)
}

// text returns a value, often with variables.
func (c *fluxCase) text() string {
	name := c.one("A", "B", "C", "D", "E_1", "_f")
	switch c.IntN(10) {
	case 0:
		return c.one("plain", "true", "1", "a: b", "# no comment", "'quoted'", `"quoted"`, "null", "", "0x1f", "*", "&a", "- a")
	case 1:
		return c.one("$$"+"{"+name+"}", "$"+name, "$$", "100$", "a $ {b}", "{{ "+name+" }}")
	case 2:
		if !c.chance(15) {
			return "${" + name + ":=}"
		}
		return c.one("${", "${}", "${1A}", "${"+name, "${"+name+"-a}", "${"+name+"|a}", "${ "+name+"}", "${"+name+"/a}", "${"+name+":1:9223372036854775807}")
	}
	operator := c.one(
		"", ":-none", ":=none", "=none", ":+some", ":?error", "^", "^^", ",", ",,", ":1", ":1:2", ": -1", ":0:-1", ":9", ":a", ":=a: b", ":=true", ":=7",
		"/a/b", "//a/b", "/#a/b", "/%e/b", "//a/", `//\//-`, `/\\/x`, "#*.", "##*.", "%.*", "%%.*", "#?", "%[ab]", "#a", ":=${A}", ":-${B:=${C:=deep}}", "=pre${A}post", "/a/${B:=b}",
	)
	expression := "${" + name + operator + "}"
	if operator == "" && c.chance(20) {
		expression = "${#" + name + "}"
	}
	return c.one("", "", "a-", "x: ", "é ") + expression + c.one("", "", "-b", " ${A:=z}", "$$")
}

// addTransforms adds fields of the spec that kustomize applies.
func (c *fluxCase) addTransforms() {
	for _, field := range []struct {
		name  string
		value any
	}{
		{"targetNamespace", "target"}, {"namePrefix", "flux-"}, {"nameSuffix", "-flux"}, {"patches", c.patches("")},
		{"images", []any{map[string]any{"name": "nginx", "newName": "example.com/nginx"}, map[string]any{"name": "redis", "newTag": "8"}}},
		{"components", []any{fmt.Sprintf("../extra%d", c.number)}},
		{"commonMetadata", map[string]any{
			"labels":      map[string]any{"app": "common", "sharding.fluxcd.io/key": "one"},
			"annotations": map[string]any{"common": "${A}", "patched": "over"},
		}},
	} {
		if !c.chance(25) {
			continue
		}
		c.spec[field.name] = field.value
		if field.name == "components" {
			if c.chance(80) {
				c.addComponent(fmt.Sprintf("extra%d", c.number))
			}
			if c.chance(50) {
				c.spec["ignoreMissingComponents"] = true
			}
		}
	}
}

// addVariables adds postBuild, and the objects that it names.
func (c *fluxCase) addVariables() {
	if c.chance(25) {
		return
	}
	values := func(names ...string) map[string]any {
		all := map[string]any{}
		for _, name := range names {
			if c.chance(85) {
				all[name] = c.one("one", "one", "one", "ABCdef", "a.b.c", "path/to/a", "true", "12", "", "line\nline\n", "#x", "${A}")
				if c.chance(4) {
					all[name] = c.one("a: b", "'", `"`, "é", "[a]", `\`)
				}
			}
		}
		return all
	}
	post := map[string]any{}
	if c.chance(80) {
		post["substitute"] = values("A", "B", "C", "D", "E_1", "_f")
		if c.chance(3) {
			post["substitute"].(map[string]any)[c.one("1a", "a-b", "")] = "x"
		}
	}
	if c.chance(20) {
		post["substituteStrategy"] = c.one("Always", "WithVariables")
	}
	var from []any
	for _, one := range []struct {
		kind, name, field string
		percent           int
	}{{"ConfigMap", "one", "data", 40}, {"ConfigMap", "two", "data", 30}, {"Secret", "three", "stringData", 12}, {"ConfigMap", "missing", "", 7}} {
		if !c.chance(one.percent) {
			continue
		}
		optional := c.chance(50)
		from = append(from, map[string]any{"kind": one.kind, "name": one.name, "optional": optional})
		c.isHidden = c.isHidden || one.kind == "Secret" || one.field == "" && !optional
		if one.field != "" {
			c.maps[one.kind+"/"+one.name] = &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "v1", "kind": one.kind, "metadata": map[string]any{"name": one.name, "namespace": "flux-system"},
				one.field: values("A", "B", "C", "D", "E_1", "_f"),
			}}
		}
	}
	if from != nil {
		post["substituteFrom"] = from
	}
	c.spec["postBuild"] = post
}

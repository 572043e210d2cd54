// SPDX-License-Identifier: Apache-2.0

package transform_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/transform"
)

func TestReferencesOfImagesAreComplete(t *testing.T) {
	const sha = "sha256:ab"
	for _, test := range []struct{ name, values, want string }{
		{"a reference with a tag", "a: quay.io/org/x:1", "quay.io/org/x:1 r.internal/org/x:1"},
		{"a tag beside it", "{image: quay.io/org/x, tag: v1}", "quay.io/org/x:v1 r.internal/org/x:v1"},
		{"a digest beside it", "{repository: quay.io/org/x, digest: '" + sha + "'}", "quay.io/org/x@" + sha + " r.internal/org/x@" + sha},
		{"both beside it", "{repository: quay.io/org/x, tag: v1, digest: '" + sha + "'}", "quay.io/org/x:v1@" + sha + " r.internal/org/x:v1@" + sha},
		{"both are empty", "{repository: quay.io/org/x, tag: '', digest: null}", "quay.io/org/x r.internal/org/x ?tag"},
		{"a tag beside one that has its own", "{image: 'quay.io/org/x:1', tag: 2}", "quay.io/org/x:1 r.internal/org/x:1"},
		{"a tag beside another key", "{sidecarImage: quay.io/org/x, tag: v1}", "quay.io/org/x r.internal/org/x ?tag"},
		{"a tag that is a number", "{image: quay.io/org/x, tag: 17}", "quay.io/org/x:17 r.internal/org/x:17"},
		{"a tag that is printed as another number", "{image: quay.io/org/x, tag: 1.10}", "quay.io/org/x:1.1 r.internal/org/x:1.1"},
		{"a template as the tag", "{image: quay.io/org/x, tag: '{{ .V }}'}", "quay.io/org/x:{{ .V }} r.internal/org/x:{{ .V }} ?template"},
		{"a template in the path", "{image: 'quay.io/org/{{ .A | default \"b:c\" }}', tag: v1}",
			`quay.io/org/{{ .A | default "b:c" }}:v1 r.internal/org/{{ .A | default "b:c" }}:v1 ?template`},
		{"registry and repository", "{registry: quay.io, repository: z/x, tag: v1}", "quay.io/z/x:v1 r.internal/quay/z/x:v1"},
		{"registry and repository without a tag", "{registry: quay.io, repository: z/x}", "quay.io/z/x r.internal/quay/z/x ?tag"},
		{"a registry", "imageRegistry: quay.io", "quay.io r.internal/quay ?repository"},
		{"a registry with a path", "imageRegistry: quay.io/org", "quay.io/org r.internal/org ?repository"},
		{"Docker Hub in short", "image: nginx:1", "docker.io/library/nginx:1 r.internal/hub/library/nginx:1"},
		{"Docker Hub in short, of a key that ends in image", "busyboxImage: busybox:1.36", "docker.io/library/busybox:1.36 r.internal/hub/library/busybox:1.36"},
		{"one with an organisation, in capitals", "KUBECTL_IMAGE: bitnami/kubectl:1.30", "docker.io/bitnami/kubectl:1.30 r.internal/bitnami/kubectl:1.30"},
		{"one without a tag", "initImage: bitnami/kubectl", "docker.io/bitnami/kubectl r.internal/bitnami/kubectl ?tag"},
		{"the name of an image", "{sidecarImage: {name: example/sidecar, tag: '2.0'}}", "docker.io/example/sidecar:2.0 r.internal/hub/example/sidecar:2.0"},
		{"the name of an image, with a registry", "{image: {registry: quay.io, name: org/x, tag: v1}}", "quay.io/org/x:v1 r.internal/org/x:v1"},
		{"a list of images", "extraImages: ['example/one:1', {name: busybox, tag: 2}]",
			"docker.io/example/one:1 r.internal/hub/example/one:1, docker.io/library/busybox:2 r.internal/hub/library/busybox:2"},
		{"names of other things", "{name: busybox, tag: '1', imagePullSecrets: [a], imageTag: v1, image: {pullPolicy: Always, tag: '1'}}", ""},
		{"a name that the chart joins", "{aImage: {name: controller}, bImage: {repository: '', name: kafka, tag: '1'}}", ""},
		{"a registry beside the name of another thing", "{registry: quay.io, name: x}", "quay.io r.internal/quay ?repository"},
		{"what no reference can be", "{heroImage: /static/hero.png, baseImage: '', hasImage: true, anImage: 'two words', exampleImage: Upper}", ""},
		{"what readers take for a boolean", "{initImage: no, extraImages: [off], image: {registry: quay.io, repository: yes}}", "quay.io r.internal/quay ?repository"},
		{"a mirror's target", "image: r.internal/org/x:1", "r.internal/org/x:1 r.internal/org/x:1"},
		{"a registry that no mirror knows", "image: example.com/x:1", "example.com/x:1 example.com/x:1"},
		{"an oci URL", "a: oci://quay.io/c", "oci://quay.io/c oci://r.internal/quay/c ?chart"},
		{"a URL", "a: https://quay.io/x?y", "https://quay.io/x?y https://r.internal/quay/x?y"},
		{"a tag of an alias", "{a: &a v1, image: quay.io/org/x, tag: *a}", "quay.io/org/x:v1 r.internal/org/x:v1"},
		{"an image by an alias, with a tag of its own", "{a: &a {image: &i quay.io/org/x, tag: v1}, b: {image: *i, tag: v2}}",
			"quay.io/org/x:v1 r.internal/org/x:v1, quay.io/org/x:v2 r.internal/org/x:v2"},
		{"an image that is merged, with a tag of its own", "{a: &a {image: quay.io/org/x, tag: v1}, b: {<<: *a, tag: v2}}",
			"quay.io/org/x:v1 r.internal/org/x:v1, quay.io/org/x:v2 r.internal/org/x:v2"},
		{"a registry that is merged", "{a: &a {registry: quay.io, tag: v1}, b: {<<: *a, repository: z/x}}",
			"quay.io r.internal/quay ?repository, quay.io/z/x:v1 r.internal/quay/z/x:v1"},
		{"both are merged, with a tag of its own", "{a: &a {registry: quay.io, repository: org/x}, b: {<<: *a, tag: v2}}",
			"quay.io/org/x r.internal/org/x ?tag, quay.io/org/x:v2 r.internal/org/x:v2"},
		{"an image in a mapping that stands only in a merge key", "{b: {<<: {image: quay.io/org/x}, tag: v2}}", "quay.io/org/x:v2 r.internal/org/x:v2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			out := apply(t, parseSettings(t, mirrored), []byte(head+"  defaultValuesBlock: |\n    "+test.values+"\n"))
			var got []string
			for _, host := range out.Hosts {
				text := host.From + " " + host.To
				if host.Unknown != "" {
					text += " ?" + string(host.Unknown)
				}
				got = append(got, text)
			}
			slices.Sort(got)
			if strings.Join(got, ", ") != test.want {
				t.Errorf("references = %q, want %q", got, test.want)
			}
		})
	}
}

func TestReferencesOfChartsAndRepositories(t *testing.T) {
	for _, test := range []struct {
		name, source string
		want         transform.Reference
	}{
		{"a chart", "helm: {url: oci://quay.io/org, chartName: c, chartVersion: 1.2.3}",
			transform.Reference{From: "oci://quay.io/org", To: "oci://r.internal/org", Chart: "c", Version: "1.2.3"}},
		{"a chart without a version", "helm: {url: https://quay.io/c, chartName: c}",
			transform.Reference{From: "https://quay.io/c", To: "https://r.internal/quay/c", Chart: "c", Unknown: transform.UnknownChart}},
		{"a name that commands would take for an option", "helm: {url: https://quay.io/c, chartName: --post-renderer=sh, chartVersion: 1.2.3}",
			transform.Reference{From: "https://quay.io/c", To: "https://r.internal/quay/c", Chart: "--post-renderer=sh", Version: "1.2.3", Unknown: transform.UnknownChart}},
		{"a name with a space", "helm: {url: https://quay.io/c, chartName: a b, chartVersion: 1.2.3}",
			transform.Reference{From: "https://quay.io/c", To: "https://r.internal/quay/c", Chart: "a b", Version: "1.2.3", Unknown: transform.UnknownChart}},
		{"a name with a path", "helm: {url: oci://quay.io/org, chartName: c/d.e_f-g, chartVersion: 1.2.3}",
			transform.Reference{From: "oci://quay.io/org", To: "oci://r.internal/org", Chart: "c/d.e_f-g", Version: "1.2.3"}},
		{"a tag", "git: {remote: 'git@github.com:org/a.git', ref: {tag: v1}, path: x}",
			transform.Reference{From: "git@github.com:org/a.git", To: "git@git.internal:m/a.git", Tag: "v1"}},
		{"a commit of a branch", "git: {remote: https://example.com/a, ref: {branch: main, commit: 0123abc}}",
			transform.Reference{From: "https://example.com/a", To: "https://example.com/a", Branch: "main", Commit: "0123abc"}},
		{"no ref", "git: {remote: ../a}", transform.Reference{From: "../a", To: "../a"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			out := apply(t, parseSettings(t, mirrored), []byte(head+"  versions:\n  - {version: '1', template: {source: {"+test.source+"}}}\n"))
			if len(out.Hosts) != 1 || out.Hosts[0].Reference != test.want {
				t.Errorf("hosts = %+v, want %+v", out.Hosts, test.want)
			}
		})
	}
}

// randomAddresses are values full of addresses, in every form, with aliases and merge keys.
func randomAddresses(r *rand.Rand) string {
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	host := func() string { return one("quay.io", "docker.io", "ghcr.io", "example.com", "r.internal") }
	path := func() string { return one("org/x", "org/y", "proxy/z", "nginx") }
	var lines, anchors []string // of those without a merge key
	for i := range 3 + r.IntN(9) {
		var value string
		switch form := r.IntN(9); {
		case form == 0 && len(anchors) > 0:
			value = fmt.Sprintf("{<<: %s, tag: %s}", one(anchors...), one("v3", "1.10"))
		case form == 1 && len(anchors) > 0:
			value = fmt.Sprintf("{<<: %s, repository: %s}", one(anchors...), path())
		case form == 2 && len(anchors) > 0:
			value = fmt.Sprintf("{<<: %s, registry: %s, sub: {image: %s}}", one(anchors...), host(), path())
		case form == 3:
			value = fmt.Sprintf("{repository: %s/%s, tag: %s}", host(), path(), one("v1", "''", "3"))
		case form == 4:
			value = fmt.Sprintf("{image: %s, digest: 'sha256:ab'}", path())
		case form == 5:
			value = fmt.Sprintf("{registry: %s, %s: %s}", host(), one("repository", "image", "name"), path())
		case form == 6:
			value = fmt.Sprintf("{list: ['%s/%s:1', %s://%s/a]}", host(), path(), one("oci", "https", "http"), host())
		case form == 7:
			value = fmt.Sprintf("{imageRegistry: %s, s: &s%d %s/%s, image: *s%d, tag: v2}", host(), i, host(), path(), i)
		default:
			value = fmt.Sprintf("{sidecarImage: %s/%s:1}", host(), path())
		}
		if !strings.Contains(value, "<<") {
			anchors = append(anchors, fmt.Sprintf("*m%d", i))
		}
		lines = append(lines, fmt.Sprintf("e%d: &m%d %s", i, i, value))
	}
	return strings.Join(lines, "\n")
}

// pairs collects, by what they say, the references that differ between two values of which the
// second is the first with mirrors. It knows nothing of nodes: aliases and merges are expanded.
func pairs(before, after any, changed map[[2]string]bool) {
	add := func(from, to string) {
		if from != to {
			changed[[2]string{from, to}] = true
		}
	}
	switch before := before.(type) {
	case []any:
		for i := range before {
			pairs(map[string]any{"": before[i]}, map[string]any{"": after.([]any)[i]}, changed)
		}
	case map[string]any:
		after := after.(map[string]any)
		suffix := ""
		if tag := before["tag"]; tag != nil && tag != "" {
			suffix = fmt.Sprintf(":%v", tag)
		}
		if digest := before["digest"]; digest != nil {
			suffix += fmt.Sprintf("@%v", digest)
		}
		split := ""
		if registry, ok := before["registry"].(string); ok {
			for _, name := range []string{"image", "repository"} {
				if _, ok := before[name].(string); ok {
					split = name
				}
			}
			if split != "" {
				add(written(registry+"/"+before[split].(string))+suffix, written(after["registry"].(string)+"/"+after[split].(string))+suffix)
			}
		}
		for name, value := range before {
			text, ok := value.(string)
			switch {
			case !ok:
				pairs(value, after[name], changed)
			case split != "" && (name == split || name == "registry"):
			case strings.Contains(text, "://"), strings.HasSuffix(strings.ToLower(name), "registry"):
				add(text, after[name].(string))
			case name == "image" || name == "repository":
				add(written(text)+suffix, written(after[name].(string))+suffix)
			default:
				add(written(text), written(after[name].(string)))
			}
		}
	}
}

// written writes an image in full.
func written(image string) string {
	if first, _, _ := strings.Cut(image, "/"); !strings.Contains(first, ".") || first == image {
		image = "docker.io/" + image
	}
	if rest, ok := strings.CutPrefix(image, "docker.io/"); ok && !strings.Contains(rest, "/") {
		image = "docker.io/library/" + rest
	}
	return image
}

// expanded returns the default values of a document, without aliases and merge keys.
func expanded(t *testing.T, document []byte) any {
	t.Helper()
	var object struct {
		Spec struct {
			DefaultValues      map[string]any `yaml:"defaultValues"`
			DefaultValuesBlock string         `yaml:"defaultValuesBlock"`
		} `yaml:"spec"`
	}
	if err := yaml.Unmarshal(document, &object); err != nil {
		t.Fatalf("%v in:\n%s", err, document)
	}
	if object.Spec.DefaultValues == nil {
		if err := yaml.Unmarshal([]byte(object.Spec.DefaultValuesBlock), &object.Spec.DefaultValues); err != nil {
			t.Fatalf("%v in:\n%s", err, document)
		}
	}
	return object.Spec.DefaultValues
}

func TestRandomAddressesAreReferredToAsRewritten(t *testing.T) {
	everything := parseSettings(t, mirrored)
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 2))
		s := everything
		s.Mirrors = nil
		for _, mirror := range everything.Mirrors {
			if r.IntN(4) > 0 {
				s.Mirrors = append(s.Mirrors, mirror)
			}
		}
		field := []string{"  defaultValuesBlock: |\n    ", "  defaultValues:\n    "}[r.IntN(2)]
		document := []byte(head + field + strings.ReplaceAll(randomAddresses(r), "\n", "\n    ") + "\n")
		out := apply(t, s, document)
		want := map[[2]string]bool{}
		pairs(expanded(t, document), expanded(t, out.Document), want)
		got := map[[2]string]bool{}
		for _, host := range out.Hosts {
			pair := [2]string{host.From, host.To}
			if got[pair] = true; host.From != host.To && !want[pair] {
				t.Errorf("seed %d: %s is not rewritten to %s", seed, host.From, host.To)
			}
		}
		for pair := range want {
			if !got[pair] {
				t.Errorf("seed %d: no reference from %s to %s", seed, pair[0], pair[1])
			}
		}
		if t.Failed() {
			t.Fatalf("mirrors %v of:\n%s\nare:\n%s", s.Mirrors, document, out.Document)
		}
	}
}

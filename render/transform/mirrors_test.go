// SPDX-License-Identifier: Apache-2.0

package transform_test

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/render/transform"
)

const mirrored = `omitFields: []
mirrors:
- {from: quay.io, to: r.internal/quay}
- {from: quay.io/org, to: r.internal/org}
- {from: docker.io, to: r.internal/hub}
- {from: docker.io/bitnami, to: r.internal/bitnami}
- {from: github.com/org, to: git.internal/m}
- {from: "gitlab.example:2222/a", to: "git.internal:22/a"}
- {from: ghcr.io, to: ghcr.io/proxy}
`

func TestMirrorsRewriteSources(t *testing.T) {
	for _, test := range []struct{ name, field, from, to string }{
		{"a chart in a registry", "helm.url", "oci://quay.io/a/b", "oci://r.internal/quay/a/b"},
		{"the longest prefix wins", "helm.url", "oci://quay.io/org", "oci://r.internal/org"},
		{"only whole elements match", "helm.url", "oci://quay.io/organisation", "oci://r.internal/quay/organisation"},
		{"only whole hosts match", "helm.url", "oci://quay.io.evil.com/org", ""},
		{"another port is another host", "helm.url", "https://quay.io:8443/org", ""},
		{"the default port does not count", "helm.url", "https://quay.io:443/org/x", "https://r.internal/org/x"},
		{"the scheme stays", "helm.url", "http://quay.io/x?y=z", "http://r.internal/quay/x?y=z"},
		{"users stay", "helm.url", "https://me:secret@quay.io/org/x", "https://me:secret@r.internal/org/x"},
		{"what is below the target already stays", "helm.url", "oci://ghcr.io/proxy/x", ""},
		{"what is beside the target does not", "helm.url", "oci://ghcr.io/proxying", "oci://ghcr.io/proxy/proxying"},
		{"a remote by https", "git.remote", "https://github.com/org/a.git", "https://git.internal/m/a.git"},
		{"a remote by ssh", "git.remote", "ssh://git@github.com/org/a.git", "ssh://git@git.internal/m/a.git"},
		{"a remote in short form", "git.remote", "git@github.com:org/a.git", "git@git.internal:m/a.git"},
		{"a remote with a port", "git.remote", "ssh://git@gitlab.example:2222/a/b", "ssh://git@git.internal:22/a/b"},
		{"another organisation", "git.remote", "git@github.com:other/a.git", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			method, key, _ := strings.Cut(test.field, ".")
			document := func(address string) string {
				return head + "  documentationURL: " + test.from + "\n  versions:\n  - version: '1'\n    template:\n      source:\n" +
					"        " + method + ": {" + key + ": \"" + address + "\"} # " + test.from + "\n"
			}
			want := test.to
			if want == "" {
				want = test.from
			}
			out := apply(t, parseSettings(t, mirrored), []byte(document(test.from)))
			if string(out.Document) != document(want) {
				t.Errorf("got:\n%s\nwant:\n%s", out.Document, document(want))
			}
			if len(out.Hosts) != 1 || out.Hosts[0].Path != "spec.versions[0].template.source."+test.field {
				t.Errorf("hosts = %v", out.Hosts)
			}
		})
	}
}

func TestMirrorsRewriteValues(t *testing.T) {
	for _, test := range []struct{ name, from, to, hosts string }{
		{"a reference with a tag", "a: quay.io/org/x:1", "a: r.internal/org/x:1", "quay.io+"},
		{"a reference with a digest", "a: ['quay.io/x@sha256:ab']", "a: ['r.internal/quay/x@sha256:ab']", "quay.io+"},
		{"a reference with a template as its tag", `a: "quay.io/org/x:{{ .V }}"`, `a: "r.internal/org/x:{{ .V }}"`, "quay.io+"},
		{"prose", "a: from quay.io/org/x:1", "", ""},
		{"other keys without tag", "a: example.com/path", "", ""},
		{"keys of images without tag", "sidecarImage: example.com/path", "", "example.com-"},
		{"an image of Docker Hub", "image: nginx:1", "image: r.internal/hub/library/nginx:1", "docker.io+"},
		{"a repository of Docker Hub", "repository: bitnami/redis", "repository: r.internal/bitnami/redis", "docker.io+"},
		{"other keys have no implied host", "a: bitnami/redis", "", ""},
		{"an explicit image of Docker Hub", "x: docker.io/nginx:1", "x: r.internal/hub/library/nginx:1", "docker.io+"},
		{"registry and repository", "{registry: quay.io, repository: org/x}", "{registry: r.internal, repository: org/x}", "quay.io+"},
		{"registry and repository of another layout", "image: {registry: quay.io, repository: z/x}", "image: {registry: r.internal, repository: quay/z/x}", "quay.io+"},
		{"registry and image", "{registry: quay.io/org, image: x}", "{registry: r.internal, image: org/x}", "quay.io+"},
		{"an empty registry", "{registry: '', repository: bitnami/x}", "{registry: 'r.internal', repository: bitnami/x}", "docker.io+"},
		{"an empty registry beside a host", "{registry: '', repository: quay.io/z/x}", "{registry: '', repository: r.internal/quay/z/x}", "quay.io+"},
		{"a repository with its host", "image: {repository: quay.io/org/x, tag: 1}", "image: {repository: r.internal/org/x, tag: 1}", "quay.io+"},
		{"a registry on its own", "imageRegistry: quay.io", "imageRegistry: r.internal/quay", "quay.io+"},
		{"a chart", "a: oci://quay.io/c", "a: oci://r.internal/quay/c", "quay.io+"},
		{"a URL", "a: https://example.com/x", "", "example.com-"},
		{"a URL of a template", "a: 'https://{{ .Cluster.Name }}/x'", "", ""},
		{"a mirror's target", "image: r.internal/org/x:1", "", "r.internal+"},
		{"a registry that is merged", "a: &a {registry: quay.io, tag: 1}\nb: {<<: *a, repository: org/x}",
			"a: {registry: r.internal/quay, tag: 1}\nb: {registry: r.internal, tag: 1, repository: org/x}", "quay.io+ quay.io+"},
		{"an alias under a telling key", "a: &a bitnami/redis\nimage: *a", "a: bitnami/redis\nimage: r.internal/bitnami/redis", "docker.io+"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, form := range []string{"  defaultValuesBlock: |\n", "  defaultValues:\n"} {
				document := func(values string) string {
					return head + form + "    # quay.io/org/x:1\n    " + strings.ReplaceAll(values, "\n", "\n    ") + "\n"
				}
				want := test.to
				if want == "" {
					want = test.from
				}
				if strings.HasPrefix(form, "  defaultValuesB") || !strings.Contains(test.from, "&a") {
					check(t, document(test.from), document(want), test.hosts)
				}
			}
		})
	}
}

func check(t *testing.T, from, want, hosts string) {
	t.Helper()
	s := parseSettings(t, mirrored)
	application := load(t, []byte(from))
	out := applyTo(t, s, application)
	if string(out.Document) != want {
		t.Errorf("got:\n%s\nwant:\n%s", out.Document, want)
	}
	if from == want && !isSame(out.Document, application.Document) {
		t.Error("what does not change is another slice")
	}
	var got []string
	for _, host := range out.Hosts {
		mark := "-"
		if host.Covered {
			mark = "+"
		}
		got = append(got, host.Host+mark)
	}
	if strings.Join(got, " ") != hosts {
		t.Errorf("hosts = %v, want %s", got, hosts)
	}
	if again := applyTo(t, s, transformed(t, application, out.Document)).Document; !isSame(again, out.Document) {
		t.Errorf("applied again:\n%s", again)
	}
}

func TestHostsSayWhereTheyAre(t *testing.T) {
	document := head + "  defaultValuesBlock: |\n    a.b: [{image: x}]\n    u: https://w.example/\n  versions:\n" +
		"  - {version: '1', template: {source: {helm: {url: &u oci://quay.io/x}}}}\n" +
		"  - {version: '2', template: {source: {helm: {url: *u}}}}\n" +
		"  - {version: '3', template: {source: {git: {remote: ../x}}}}\n"
	pipeline, err := transform.New(transform.Config{CollectHosts: true})
	if err != nil {
		t.Fatal(err)
	}
	application := load(t, []byte(document))
	out, err := pipeline.Apply(context.Background(), transform.Input{Application: application, Versions: application.Versions})
	if err != nil || !isSame(out.Document, application.Document) {
		t.Fatalf("changed: %v", err)
	}
	refer := func(address string, unknown transform.Unknown) transform.Reference {
		return transform.Reference{From: address, To: address, Unknown: unknown}
	}
	want := []transform.Host{
		{Host: "../x", Path: "spec.versions[2].template.source.git.remote", Kind: transform.KindGit, Reference: refer("../x", "")},
		{Host: "docker.io", Path: `spec.defaultValuesBlock["a.b"][0].image`, Kind: transform.KindImage, Reference: refer("docker.io/library/x", transform.UnknownTag)},
		{Host: "quay.io", Path: "spec.versions[0].template.source.helm.url", Kind: transform.KindChart, Reference: refer("oci://quay.io/x", transform.UnknownChart)},
		{Host: "quay.io", Path: "spec.versions[1].template.source.helm.url", Kind: transform.KindChart, Reference: refer("oci://quay.io/x", transform.UnknownChart)},
		{Host: "w.example", Path: "spec.defaultValuesBlock.u", Kind: transform.KindURL, Reference: refer("https://w.example/", "")},
	}
	if !reflect.DeepEqual(out.Hosts, want) {
		t.Errorf("hosts = %v, want %v", out.Hosts, want)
	}
}

func TestValuesThatCannotBeSearchedAreReported(t *testing.T) {
	for name, block := range map[string]string{
		"a template that is no YAML": "{{ if .X }}\n    image: quay.io/org/x\n    {{ end }}",
		"a list":                     "- quay.io/org/x",
		"a tag that readers ignore":  "image: !hidden quay.io/org/x",
		"a tag that readers decode":  "image: !!binary cXVheS5pby9vcmcveDox",
	} {
		t.Run(name, func(t *testing.T) {
			application := load(t, []byte(head+"  defaultValuesBlock: |\n    "+block+"\n"))
			out := applyTo(t, parseSettings(t, mirrored), application)
			if out.Unreadable == "" || !isSame(out.Document, application.Document) {
				t.Errorf("unreadable = %q", out.Unreadable)
			}
		})
	}
}

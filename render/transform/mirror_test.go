// SPDX-License-Identifier: Apache-2.0

package transform_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/transform"
)

const schemed = `omitFields: []
mirrors:
- {from: charts.example, to: "oci://r.internal:5000/charts"}
- {from: charts.example/stable, to: "oci://r.internal:5000/charts/stable"}
- {from: quay.io, to: "oci://r.internal:5000/quay"}
- {from: own.example/charts, to: "oci://own.example/charts"}
- {from: deep.example, to: "oci://deep.example/proxy"}
- {from: github.com, to: "https://git.internal/hub"}
- {from: "gitlab.example:2222/a", to: "https://git.internal/lab"}
- {from: ghcr.io, to: "https://charts.internal"}
- {from: plain.example, to: r.internal/plain}
`

// sourceOf returns a document with one version from there.
func sourceOf(source string) string {
	return head + "  versions:\n  - version: '1'\n    template:\n      source:\n        " + source + "\n"
}

func TestAMirrorMayNameAScheme(t *testing.T) {
	const chart = ", chartName: web}"
	for _, test := range []struct{ name, from, to, covered string }{
		{"a chart repository becomes a registry", "helm: {url: 'https://charts.example/a'" + chart, "helm: {url: 'oci://r.internal:5000/charts/a'" + chart, "+"},
		{"the root of one", "helm: {url: https://charts.example" + chart, "helm: {url: oci://r.internal:5000/charts" + chart, "+"},
		{"KKP appends a slash itself", "helm: {url: https://charts.example/a//" + chart, "helm: {url: oci://r.internal:5000/charts/a" + chart, "+"},
		{"the longest prefix wins", "helm: {url: https://charts.example/stable/a" + chart, "helm: {url: oci://r.internal:5000/charts/stable/a" + chart, "+"},
		{"one without TLS", "helm: {url: 'http://charts.example:80/a'" + chart, "helm: {url: 'oci://r.internal:5000/charts/a'" + chart, "+"},
		{"a registry stays one", "helm: {url: oci://quay.io/a" + chart, "helm: {url: oci://r.internal:5000/quay/a" + chart, "+"},
		{"a registry becomes a chart repository", "helm: {url: oci://ghcr.io/a" + chart, "helm: {url: https://charts.internal/a" + chart, "+"},
		{"a user stays with https", "helm: {url: 'https://me:secret@ghcr.io/a?b=c'" + chart, "helm: {url: 'https://me:secret@charts.internal/a?b=c'" + chart, "+"},
		{"what is there already stays", "helm: {url: 'oci://r.internal:5000/charts/a'" + chart, "", "+"},
		{"another scheme of the mirror's host is not the mirror", "helm: {url: 'https://r.internal:5000/charts/a'" + chart, "", "-"},
		{"a mirror without a scheme covers each", "helm: {url: 'https://r.internal/plain/a'" + chart, "", "+"},
		{"only the scheme", "helm: {url: https://own.example/charts/a" + chart, "helm: {url: oci://own.example/charts/a" + chart, "+"},
		{"only the scheme, and it is right", "helm: {url: oci://own.example/charts/a" + chart, "", "+"},
		{"only the scheme, where the mirror is below itself", "helm: {url: https://deep.example/proxy/a" + chart, "helm: {url: oci://deep.example/proxy/a" + chart, "+"},
		{"no mirror", "helm: {url: https://other.example/a" + chart, "", "-"},
		{"Git by SSH in short form", "git: {remote: 'git@github.com:org/a.git'}", "git: {remote: 'https://git.internal/hub/org/a.git'}", "+"},
		{"Git by SSH", "git: {remote: 'ssh://git@gitlab.example:2222/a/b.git'}", "git: {remote: 'https://git.internal/lab/b.git'}", "+"},
		{"Git by its own protocol", "git: {remote: 'git://github.com/a'}", "git: {remote: 'https://git.internal/hub/a'}", "+"},
		{"Git by HTTPS", "git: {remote: 'https://me@github.com/a'}", "git: {remote: 'https://me@git.internal/hub/a'}", "+"},
		{"Git on the host of a registry", "git: {remote: 'https://r.internal:5000/charts/a'}", "", "-"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.to == "" {
				test.to = test.from
			}
			application := load(t, []byte(sourceOf(test.from)))
			out := applyTo(t, parseSettings(t, schemed), application)
			if string(out.Document) != sourceOf(test.to) {
				t.Errorf("got:\n%s\nwant:\n%s", out.Document, sourceOf(test.to))
			}
			if test.from == test.to && !isSame(out.Document, application.Document) {
				t.Error("what does not change is another slice")
			}
			if len(out.Hosts) != 1 || out.Hosts[0].Covered != (test.covered == "+") || !strings.Contains(test.to, out.Hosts[0].To) {
				t.Errorf("hosts = %+v", out.Hosts)
			}
			again := applyTo(t, parseSettings(t, schemed), transformed(t, application, out.Document))
			if !isSame(again.Document, transformed(t, application, out.Document).Document) && string(again.Document) != string(out.Document) {
				t.Errorf("applied again:\n%s", again.Document)
			}
		})
	}
}

func TestASchemeNeverReachesDefaultValues(t *testing.T) {
	for _, test := range []struct{ name, from, to string }{
		{"an image", "image: quay.io/org/x:1", "image: r.internal:5000/quay/org/x:1"},
		{"registry and repository", "{registry: quay.io, repository: org/x}", "{registry: 'r.internal:5000', repository: quay/org/x}"},
		{"a registry", "imageRegistry: quay.io", "imageRegistry: r.internal:5000/quay"},
		{"an image behind https", "image: ghcr.io/org/x:1", "image: charts.internal/org/x:1"},
		{"an image of the mirror", "image: r.internal:5000/charts/x:1", ""},
		{"a URL", "a: https://charts.example/x", "a: https://r.internal:5000/charts/x"},
		{"a chart", "a: oci://ghcr.io/x", "a: oci://charts.internal/x"},
	} {
		t.Run(test.name, func(t *testing.T) {
			document := func(values string) string { return head + "  defaultValuesBlock: |\n    " + values + "\n" }
			if test.to == "" {
				test.to = test.from
			}
			test.to = strings.ReplaceAll(test.to, "'r.internal:5000'", "r.internal:5000")
			out := apply(t, parseSettings(t, schemed), []byte(document(test.from)))
			if string(out.Document) != document(test.to) {
				t.Errorf("got:\n%s\nwant:\n%s", out.Document, document(test.to))
			}
			if len(out.Hosts) != 1 || !out.Hosts[0].Covered {
				t.Errorf("hosts = %+v", out.Hosts)
			}
		})
	}
}

// A catalog that could name the host behind a mirror would receive the credentials of the mirror.
func TestACatalogDoesNotLeaveTheMirror(t *testing.T) {
	for _, to := range []string{"r.internal", "https://r.internal", "oci://r.internal"} {
		s := parseSettings(t, "omitFields: []\nmirrors:\n- {from: charts.example/x, to: '"+to+"', helm: {insecure: true}}\n")
		for _, source := range []string{
			"helm: {url: 'https://charts.example/x@evil.example/a', chartName: web}", "helm: {url: 'https://charts.example/x:6666/a', chartName: web}",
			"helm: {url: 'https://charts.example/x@evil.example', chartName: web}", "git: {remote: 'git@charts.example:x@evil.example/a'}",
		} {
			application := load(t, []byte(sourceOf(source)))
			if out := applyTo(t, s, application); !isSame(out.Document, application.Document) || out.Hosts[0].Covered {
				t.Errorf("to %s:\n%s\n%+v", to, out.Document, out.Hosts)
			}
		}
		values := []byte(head + "  defaultValuesBlock: |\n    a: https://charts.example/x@evil.example/a\n    image: charts.example/x@sha256:ab\n")
		if application := load(t, values); !isSame(applyTo(t, s, application).Document, application.Document) {
			t.Errorf("to %s: %s", to, applyTo(t, s, application).Document)
		}
	}
}

// The web server, or the client, resolves . and .. before it looks for the path.
func TestAnAddressStaysBelowTheMirrorsPath(t *testing.T) {
	for _, to := range []string{"r.internal/team-a", "https://r.internal/team-a"} {
		s := parseSettings(t, "omitFields: []\nmirrors:\n- {from: charts.example, to: '"+to+"', helm: {credentials: {username: {name: s, key: u}, password: {name: s, key: p}}}}\n")
		for _, source := range []string{
			"helm: {url: 'https://charts.example/../team-b', chartName: web}", "helm: {url: 'https://charts.example/a/%2E./..', chartName: web}",
			"helm: {url: 'https://charts.example/.%2e/team-b', chartName: web}", "helm: {url: 'https://r.internal/team-a/../team-b', chartName: web}",
			"git: {remote: 'git@charts.example:../team-b/a.git'}", "git: {remote: 'https://charts.example/./a.git'}",
		} {
			if err := applyError(t, s, sourceOf(source)); !strings.Contains(err.Error(), "an element . or .. of a path") {
				t.Errorf("Apply() of %s to %s = %v", source, to, err)
			}
		}
		source := sourceOf("helm: {url: 'https://charts.example/...a/..b/c..', chartName: web}")
		if out := apply(t, s, []byte(source)); !out.Hosts[0].Covered || isSame(out.Document, []byte(source)) {
			t.Errorf("to %s: %s", to, out.Document)
		}
	}
}

func TestWhatARegistryCannotHaveIsRefused(t *testing.T) {
	for _, test := range []struct{ name, source, want string }{
		{"a query", "helm: {url: 'https://charts.example/a?token=secret', chartName: web}", "no query"},
		{"a fragment", "helm: {url: 'https://charts.example/a#secret', chartName: web}", "no query"},
		{"a user", "helm: {url: 'https://me:secret@charts.example/a', chartName: web}", "no user"},
		{"upper case", "helm: {url: https://charts.example/A, chartName: web}", `"charts/A/web" is not the name`},
		{"an encoded character", "helm: {url: https://charts.example/a%20b, chartName: web}", "is not the name"},
		{"an empty element", "helm: {url: https://charts.example/a//b, chartName: web}", "is not the name"},
		{"the directory above", "helm: {url: https://charts.example/../a, chartName: web}", "is not the name"},
		{"a template", "helm: {url: 'https://charts.example/{{ .A }}', chartName: web}", "is not the name"},
		{"two dots", "helm: {url: https://charts.example/a..b, chartName: web}", "is not the name"},
		{"a tag", "helm: {url: 'https://charts.example/stable:1', chartName: web}", "is not the name"},
		{"a chart in upper case", "helm: {url: https://charts.example/a, chartName: Web}", `"charts/a/Web" is not the name`},
		{"no chart", "helm: {url: https://charts.example/a}", `"charts/a/" is not the name`},
		{"a Git repository", "git: {remote: 'https://charts.example/a.git'}", "no Git repositories"},
		{"a Git repository by SSH", "git: {remote: 'git@charts.example:a.git'}", "no Git repositories"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := applyError(t, parseSettings(t, schemed), sourceOf(test.source))
			var refused *transform.Error
			if !errors.As(err, &refused) || !strings.HasPrefix(refused.Field, "spec.mirrors[") || !strings.HasSuffix(refused.Field, "].to") || refused.Application != "web" {
				t.Fatalf("Apply() = %v", err)
			}
			text := err.Error()
			if !strings.Contains(text, test.want) || !strings.Contains(text, "spec.versions[0].template.source.") || !strings.Contains(text, "charts.example") {
				t.Errorf("Apply() = %v", err)
			}
			if strings.Contains(text, "secret") {
				t.Errorf("the error quotes a secret: %v", err)
			}
		})
	}
	document := head + "  versions:\n" + strings.Repeat("  - {version: '1', template: {source: {helm: {url: 'https://charts.example/A', chartName: web}}}}\n", 1)
	document += "  - {version: '2', template: {source: {helm: {url: 'https://charts.example/B', chartName: web}}}}\n"
	if err := applyError(t, parseSettings(t, schemed), document); !strings.Contains(err.Error(), "(and 1 more)") {
		t.Errorf("Apply() of two = %v", err)
	}
}

func applyError(t *testing.T, s settings, document string) error {
	t.Helper()
	pipeline, err := transform.New(s.config())
	if err != nil {
		t.Fatal(err)
	}
	application := load(t, []byte(document))
	_, err = pipeline.Apply(t.Context(), transform.Input{Application: application, Versions: application.Versions})
	if err == nil {
		t.Fatal("Apply() succeeds")
	}
	return err
}

func TestPrefixesOfMirrorsHaveAHost(t *testing.T) {
	for from, valid := range map[string]bool{
		"quay.io": true, "quay.io:443/a@b": true, "bitnami": true, "[::1]:5000": true,
		"me@quay.io": false, "https:/quay.io": false, "quay.io?a": false, "quay.io:a": false,
	} {
		_, err := transform.New(transform.Config{Mirrors: []v1alpha1.Mirror{{From: from, To: "r.internal"}}})
		var refused *transform.Error
		if valid && err != nil || !valid && (!errors.As(err, &refused) || refused.Field != "spec.mirrors[0].from") {
			t.Errorf("New() from %s = %v", from, err)
		}
	}
}

func TestMirrorsAreChecked(t *testing.T) {
	key := &v1alpha1.SecretKey{Name: "registry", Key: "config"}
	for _, test := range []struct {
		name   string
		mirror v1alpha1.Mirror
		field  string
	}{
		{"a scheme", v1alpha1.Mirror{To: "oci://r.internal:5000/a/b--c__d.e_f"}, ""},
		{"a host alone", v1alpha1.Mirror{To: "https://[::1]:443"}, ""},
		{"an HTTPS path in upper case", v1alpha1.Mirror{To: "https://git.internal/Org"}, ""},
		{"another scheme", v1alpha1.Mirror{To: "http://a"}, ".to"},
		{"SSH", v1alpha1.Mirror{To: "ssh://git@a/b"}, ".to"},
		{"a scheme in upper case", v1alpha1.Mirror{To: "OCI://a/b"}, ".to"},
		{"two schemes", v1alpha1.Mirror{To: "oci://https://a"}, ".to"},
		{"a scheme with one slash", v1alpha1.Mirror{To: "oci:/a/b"}, ".to"},
		{"a scheme without slashes", v1alpha1.Mirror{To: "https:a/b"}, ".to"},
		{"a user without a scheme", v1alpha1.Mirror{To: "me@a/b"}, ".to"},
		{"a port that is no number", v1alpha1.Mirror{To: "a:b/c"}, ".to"},
		{"the directory above", v1alpha1.Mirror{To: "a/../b"}, ".to"},
		{"the directory above with a scheme", v1alpha1.Mirror{To: "https://a/b/%2e%2e"}, ".to"},
		{"a host and a port", v1alpha1.Mirror{To: "a:5000/B.c"}, ""},
		{"a scheme alone", v1alpha1.Mirror{To: "oci://"}, ".to"},
		{"a path alone", v1alpha1.Mirror{To: "oci:///a"}, ".to"},
		{"a slash at the end", v1alpha1.Mirror{To: "oci://a/b/"}, ".to"},
		{"a slash at the end of a host", v1alpha1.Mirror{To: "https://a/"}, ".to"},
		{"upper case in a registry", v1alpha1.Mirror{To: "oci://a/B"}, ".to"},
		{"two dots in a registry", v1alpha1.Mirror{To: "oci://a/b..c"}, ".to"},
		{"a user", v1alpha1.Mirror{To: "https://me@a/b"}, ".to"},
		{"a query", v1alpha1.Mirror{To: "https://a/b?c"}, ".to"},
		{"a line break", v1alpha1.Mirror{To: "https://a/b\nc"}, ".to"},
		{"a config file", v1alpha1.Mirror{To: "oci://a", Helm: &v1alpha1.MirrorHelm{Credentials: &v1alpha1.HelmCredentials{RegistryConfigFile: key}, PlainHTTP: true}}, ""},
		{"a user and a password", v1alpha1.Mirror{To: "a", Helm: &v1alpha1.MirrorHelm{Credentials: &v1alpha1.HelmCredentials{Username: key, Password: key}, Insecure: true}}, ""},
		{"no credentials", v1alpha1.Mirror{To: "a", Helm: &v1alpha1.MirrorHelm{Credentials: &v1alpha1.HelmCredentials{}}}, ".helm.credentials"},
		{"a user alone", v1alpha1.Mirror{To: "a", Helm: &v1alpha1.MirrorHelm{Credentials: &v1alpha1.HelmCredentials{Username: key}}}, ".helm.credentials"},
		{"all credentials", v1alpha1.Mirror{To: "a", Helm: &v1alpha1.MirrorHelm{Credentials: &v1alpha1.HelmCredentials{Username: key, Password: key, RegistryConfigFile: key}}}, ".helm.credentials"},
		{"a config file and a password", v1alpha1.Mirror{To: "a", Helm: &v1alpha1.MirrorHelm{Credentials: &v1alpha1.HelmCredentials{Password: key, RegistryConfigFile: key}}}, ".helm.credentials"},
		{"a Secret without a name", v1alpha1.Mirror{To: "a", Helm: &v1alpha1.MirrorHelm{Credentials: &v1alpha1.HelmCredentials{RegistryConfigFile: &v1alpha1.SecretKey{Key: "a"}}}}, ".helm.credentials"},
		{"a key that is a path", v1alpha1.Mirror{To: "a", Helm: &v1alpha1.MirrorHelm{Credentials: &v1alpha1.HelmCredentials{RegistryConfigFile: &v1alpha1.SecretKey{Name: "a", Key: "a/b"}}}}, ".helm.credentials"},
		{"both of plainHTTP and insecure", v1alpha1.Mirror{To: "a", Helm: &v1alpha1.MirrorHelm{PlainHTTP: true, Insecure: true}}, ".helm"},
		{"plainHTTP with https", v1alpha1.Mirror{To: "https://a", Helm: &v1alpha1.MirrorHelm{PlainHTTP: true}}, ".helm"},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.mirror.From = "quay.io"
			_, err := transform.New(transform.Config{Mirrors: []v1alpha1.Mirror{test.mirror}})
			var refused *transform.Error
			if test.field == "" {
				if err != nil {
					t.Errorf("New() = %v", err)
				}
			} else if !errors.As(err, &refused) || refused.Field != "spec.mirrors[0]"+test.field {
				t.Errorf("New() = %v, want an error of %s", err, test.field)
			}
		})
	}
}

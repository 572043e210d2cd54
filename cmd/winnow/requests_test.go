// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/render/contract"
	"github.com/winnow-dev/winnow/test/clitest"
	"github.com/winnow-dev/winnow/test/clitest/hosttest"
)

// chartVerbs are the command lines that fetch charts.
func chartVerbs(t *testing.T, repository string) map[string][]string {
	t.Helper()
	return map[string][]string{
		"lint": {"lint", hosttest.ChartCatalog(t, repository, "1.0.0"), "--charts"},
		"list": {"list", hosttest.ChartCatalog(t, repository, "1.0.0"), "--images", "--charts"},
		"diff": {"diff", "--from", hosttest.ChartCatalog(t, repository, "0.9.0"), "--to", hosttest.ChartCatalog(t, repository, "1.0.0"), "--charts"},
	}
}

// A hostile repository, or a hostile registry, at a public address directs requests into the network of this machine.
func TestAPublicHostDirectsNoRequestInside(t *testing.T) {
	chart := hosttest.WebChart(t)
	answer := func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(chart) }
	plain, secure := hosttest.StartService(t, false, answer), hosttest.StartService(t, true, answer)
	var target string
	authority := hosttest.ServePublic(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/named/index.yaml":
			_, _ = io.WriteString(w, hosttest.ChartIndex(target))
		case "/redirected/index.yaml":
			_, _ = io.WriteString(w, hosttest.ChartIndex("there"))
		case "/redirected/there", "/moved/index.yaml":
			http.Redirect(w, r, "/again", http.StatusMovedPermanently)
		case "/again":
			w.Header().Set("Location", target)
			w.WriteHeader(http.StatusTemporaryRedirect)
		default:
			serveChartManifest(w, r, chart, target)
		}
	}))
	for i, test := range []struct{ name, target, want string }{
		{"an address without TLS", plain.URL + "/x", "without TLS"},
		{"this machine", secure.URL + "/x", "internal address 127.0.0.1"},
		{"the metadata of a cloud", "http://169.254.169.254/latest/meta-data", "without TLS"},
		{"the metadata of a cloud, with TLS", "https://169.254.169.254/latest/meta-data", "internal address 169.254.169.254"},
		{"a private address", "https://10.0.0.7/x", "internal address 10.0.0.7"},
		{"a unique local address of IPv6", "https://[fd00:ec2::254]/x", "internal address fd00:ec2::254"},
		{"a shared address", "https://100.100.100.200/x", "internal address 100.100.100.200"},
		{"this machine, mapped to IPv6", "https://[::ffff:127.0.0.1]:" + secure.Port() + "/x", "internal address 127.0.0.1"},
		{"this machine, mapped to IPv6 in hexadecimal digits", "https://[::ffff:7f00:1]:" + secure.Port() + "/x", "internal address 127.0.0.1"},
		{"this machine, translated to IPv6", "https://[64:ff9b::7f00:1]:" + secure.Port() + "/x", "internal address 127.0.0.1"},
		{"this machine, in a tunnel of IPv6", "https://[2002:7f00:1::]:" + secure.Port() + "/x", "internal address 127.0.0.1"},
		{"no address", "https://0.0.0.0:" + secure.Port() + "/x", "internal address 0.0.0.0"},
		{"no address of IPv6", "https://[::]:" + secure.Port() + "/x", "internal address ::"},
		{"a name of this machine", "https://localhost:" + secure.Port() + "/x", "internal address "},
		{"a decimal address", "https://2130706433:" + secure.Port() + "/x", ""}, // a name, of which resolvers make what they like
		{"a hexadecimal address", "https://0x7f.1:" + secure.Port() + "/x", ""},
		{"a file", "file:///etc/hostname", ""},
		{"another scheme", "gopher://127.0.0.1:" + plain.Port() + "/x", ""},
	} {
		for _, repository := range []string{
			"https://example.com/named", "https://example.com/redirected", "https://example.com/moved", "oci://example.com/charts", "oci://example.com/manifests",
		} {
			target = test.target
			for verb, line := range chartVerbs(t, repository) {
				if verb != "lint" && i > 1 { // all verbs have the same client
					continue
				}
				got := clitest.Execute(t.Context(), append(line, "--ca-file", authority)...)
				if found := plain.Seen() + secure.Seen(); found != "" {
					t.Errorf("%s, %s of %s: the network received %s", test.name, verb, repository, found)
				}
				if out := got.Stdout + got.Stderr; !strings.Contains(out, test.want) || strings.Contains(out, "quay.io") {
					t.Errorf("%s, %s of %s, want %q: %d\n%s", test.name, verb, repository, test.want, got.Code, out)
				}
			}
		}
	}
}

// serveChartManifest serves a chart as a registry does, which directs requests for blobs, or for manifests, to a target.
func serveChartManifest(w http.ResponseWriter, r *http.Request, chart []byte, target string) {
	layer := v1.Descriptor{MediaType: contract.ChartMediaType, Digest: digest.FromBytes(chart), Size: int64(len(chart))}
	manifest, err := json.Marshal(v1.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageManifest, Config: v1.DescriptorEmptyJSON, Layers: []v1.Descriptor{layer},
	})
	switch {
	case err != nil:
		w.WriteHeader(http.StatusInternalServerError)
	case strings.HasPrefix(r.URL.Path, "/v2/charts/web/manifests/"):
		w.Header().Set("Content-Type", v1.MediaTypeImageManifest)
		w.Header().Set("Docker-Content-Digest", digest.FromBytes(manifest).String())
		w.Header().Set("Content-Length", fmt.Sprint(len(manifest)))
		_, _ = w.Write(manifest)
	case target == "":
		_, _ = w.Write(chart)
	default:
		w.Header().Set("Location", target)
		w.WriteHeader(http.StatusTemporaryRedirect)
	}
}

// Without TLS, only hosts of --plain-http are requested: not even the repository that the catalog names, nor another host
// beside the one of the flag.
func TestOnlyHostsOfTheFlagAreRequestedWithoutTLS(t *testing.T) {
	hosttest.Forgetful(t)
	chart := hosttest.WebChart(t)
	other := hosttest.StartService(t, false, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(chart) })
	first := hosttest.StartService(t, false, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/own/index.yaml":
			_, _ = io.WriteString(w, hosttest.ChartIndex("x"))
		case "/own/x":
			_, _ = w.Write(chart)
		case "/named/index.yaml":
			_, _ = io.WriteString(w, hosttest.ChartIndex(other.URL+"/x"))
		default:
			http.Redirect(w, r, other.URL+r.URL.Path, http.StatusFound)
		}
	})
	for _, test := range []struct {
		name, repository, flag string
		// want is "first", "other" or both, if these are requested.
		want string
	}{
		{"no flag", first.URL + "/own", "", ""},
		{"no flag, in a registry", "oci://" + first.Host() + "/charts", "", ""},
		{"the flag for another host", first.URL + "/own", "--plain-http=" + other.Host(), ""},
		{"the flag for another port", first.URL + "/own", "--plain-http=127.0.0.1", ""},
		{"the flag for the host", first.URL + "/own", "--plain-http=" + first.Host(), "first"},
		{"an archive at another host", first.URL + "/named", "--plain-http=" + first.Host(), "first"},
		{"a redirect to another host", first.URL + "/moved", "--plain-http=" + first.Host(), "first"},
		{"a redirect of a registry to another host", "oci://" + first.Host() + "/charts", "--plain-http=" + first.Host(), "first"},
		{"a redirect to an allowed host", first.URL + "/moved", "--plain-http", "first other"},
	} {
		for verb, line := range chartVerbs(t, test.repository) {
			if test.flag != "" {
				line = append(line, test.flag)
			}
			got := clitest.Execute(t.Context(), line...)
			var requested []string
			for name, s := range map[string]*hosttest.Service{"first": first, "other": other} {
				found := s.Seen()
				if strings.Contains(found, "/") { // a connection alone is one that TLS failed on
					requested = append(requested, name)
				}
			}
			if len(requested) == 2 {
				requested = []string{"first", "other"}
			}
			if found := strings.Join(requested, " "); found != test.want {
				t.Errorf("%s, %s: requested are %q, want %q: %d\n%s%s", test.name, verb, found, test.want, got.Code, got.Stdout, got.Stderr)
			}
		}
	}
}

// A private host may direct requests to other private hosts, such as the store of its blobs.
func TestAPrivateHostDirectsRequestsBesideIt(t *testing.T) {
	hosttest.Forgetful(t)
	chart := hosttest.WebChart(t)
	store := hosttest.StartService(t, true, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(chart) })
	first := hosttest.StartService(t, true, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/stable/index.yaml":
			_, _ = io.WriteString(w, hosttest.ChartIndex("../x"))
		case "/x":
			http.Redirect(w, r, store.URL+"/blob", http.StatusFound)
		default:
			serveChartManifest(w, r, chart, store.URL+"/blob")
		}
	})
	authority := filepath.Join(t.TempDir(), "ca.pem")
	clitest.WriteFile(t, authority, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: first.Certificate().Raw})))
	for _, repository := range []string{first.URL + "/stable", "oci://" + first.Host() + "/charts"} {
		got := clitest.Execute(t.Context(), "list", hosttest.ChartCatalog(t, repository, "1.0.0"), "--images", "--charts", "--ca-file", authority)
		if got.Code != root.ExitOK || !strings.Contains(got.Stdout, "quay.io/org/web") || store.Seen() != "GET /blob" {
			t.Errorf("%s: %d\n%s%s", repository, got.Code, got.Stdout, got.Stderr)
		}
	}
}

// The credentials of a host and port are sent to no other one, whatever redirects to it.
func TestCredentialsAreForTheirHostAndPort(t *testing.T) {
	directory := hosttest.Forgetful(t)
	chart := hosttest.WebChart(t)
	var back string
	other := hosttest.StartService(t, true, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/back" {
			http.Redirect(w, r, back, http.StatusFound)
			return
		}
		_, _ = w.Write(chart)
	})
	first := hosttest.StartService(t, true, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/stable/index.yaml":
			_, _ = io.WriteString(w, hosttest.ChartIndex("x"))
		case r.URL.Path == "/stable/x":
			http.Redirect(w, r, other.URL+"/x", http.StatusFound)
		case r.URL.Path == "/round/index.yaml":
			_, _ = io.WriteString(w, hosttest.ChartIndex("x"))
		case r.URL.Path == "/round/x":
			http.Redirect(w, r, other.URL+"/back", http.StatusFound)
		case strings.HasPrefix(r.URL.Path, "/v2/") && r.Header.Get("Authorization") == "":
			w.Header().Set("Www-Authenticate", `Basic realm="x"`)
			w.WriteHeader(http.StatusUnauthorized)
		case strings.HasPrefix(r.URL.Path, "/v2/"):
			serveChartManifest(w, r, chart, other.URL+"/blob")
		default:
			_, _ = w.Write(chart)
		}
	})
	back = first.URL + "/end"
	authority := filepath.Join(t.TempDir(), "ca.pem")
	clitest.WriteFile(t, authority, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: first.Certificate().Raw})))
	basic := base64.StdEncoding.EncodeToString([]byte("user:secret"))
	for _, test := range []struct{ name, stored, repository, want, wantOther string }{
		{"a repository", first.Host(), first.URL + "/stable", "GET /stable/index.yaml Basic " + basic + ", GET /stable/x Basic " + basic, "GET /x"},
		{"a way back", first.Host(), first.URL + "/round", "GET /round/index.yaml Basic " + basic + ", GET /round/x Basic " + basic + ", GET /end", "GET /back"},
		{"a host without a port", "127.0.0.1", first.URL + "/stable", "GET /stable/index.yaml, GET /stable/x", "GET /x"},
		{"another port", other.Host(), first.URL + "/stable", "GET /stable/index.yaml, GET /stable/x", "GET /x"},
		{"a registry", first.Host(), "oci://" + first.Host() + "/charts", "GET /v2/charts/web/manifests/1.0.0, GET /v2/charts/web/manifests/1.0.0 Basic " + basic +
			", GET /v2/charts/web/blobs/" + digest.FromBytes(chart).String() + " Basic " + basic, "GET /blob"},
	} {
		clitest.WriteFile(t, filepath.Join(directory, "config.json"), fmt.Sprintf(`{"auths": {%q: {"auth": %q}}}`, test.stored, basic))
		got := clitest.Execute(t.Context(), "list", hosttest.ChartCatalog(t, test.repository, "1.0.0"), "--images", "--charts", "--ca-file", authority)
		gotFirst, gotOther := first.Seen(), other.Seen()
		if got.Code != root.ExitOK || !strings.Contains(got.Stdout, "quay.io/org/web") {
			t.Errorf("%s: %d\n%s%s", test.name, got.Code, got.Stdout, got.Stderr)
		}
		if gotFirst != test.want || gotOther != test.wantOther {
			t.Errorf("%s: the host received %q, want %q, and the other one %q, want %q", test.name, gotFirst, test.want, gotOther, test.wantOther)
		}
	}
}

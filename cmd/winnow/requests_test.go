// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/winnow-dev/winnow/cmd/winnow/charts/fetching"
	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/render/contract"
	"github.com/winnow-dev/winnow/test/clitest"
)

// publicConn is a connection to a server of the test that has a public address.
type publicConn struct{ net.Conn }

func (publicConn) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(203, 0, 113, 7), Port: 443} }

// servePublic makes https://example.com a server with a public address, and returns a file with its authority. Only what may
// dial any address reaches it.
func servePublic(t *testing.T, handler http.Handler) (authority string) {
	t.Helper()
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	authority = filepath.Join(t.TempDir(), "ca.pem")
	clitest.WriteFile(t, authority, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	before := http.DefaultTransport
	transport := before.(*http.Transport).Clone()
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if address != "example.com:443" {
			return new(net.Dialer).DialContext(ctx, network, address)
		}
		conn, err := new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
		return publicConn{conn}, err
	}
	http.DefaultTransport = transport
	t.Cleanup(func() { transport.CloseIdleConnections(); http.DefaultTransport = before })
	forgetful(t)
	return authority
}

// forgetful leaves the process without a cache of charts and without credentials, and returns the directory of Docker's
// configuration.
func forgetful(t *testing.T) string {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HOME", "")
	directory := t.TempDir()
	t.Setenv("DOCKER_CONFIG", directory)
	return directory
}

// service is a service of the network, which records connections, and requests with their credentials.
type service struct {
	*httptest.Server

	mu       sync.Mutex
	requests []string
	conns    atomic.Int32
}

func startService(t *testing.T, withTLS bool, handler http.HandlerFunc) *service {
	t.Helper()
	s := &service{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization")))
		s.mu.Unlock()
		handler(w, r)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.conns.Add(1)
		}
	}
	if withTLS {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s
}

// seen returns what the service has received since the last call.
func (s *service) seen() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := strings.Join(s.requests, ", ")
	if conns := s.conns.Swap(0); conns > 0 && found == "" {
		found = fmt.Sprintf("%d connections", conns)
	}
	s.requests = nil
	return found
}

func (s *service) port() string { return s.URL[strings.LastIndex(s.URL, ":")+1:] }

func (s *service) host() string { return s.Listener.Addr().String() }

// chartCatalog writes a catalog with one chart of a repository.
func chartCatalog(t *testing.T, repository, version string) string {
	t.Helper()
	directory := t.TempDir()
	below := filepath.Join(directory, "applications", "web")
	if err := os.MkdirAll(below, 0o700); err != nil {
		t.Fatal(err)
	}
	clitest.WriteFile(t, filepath.Join(below, "application.yaml"), fmt.Sprintf(`apiVersion: apps.kubermatic.k8c.io/v1
kind: ApplicationDefinition
metadata: {name: web}
spec:
  method: helm
  versions:
  - {version: %s, template: {source: {helm: {url: %q, chartName: web, chartVersion: %s}}}}
`, version, repository, version))
	return directory
}

// chartVerbs are the command lines that fetch charts.
func chartVerbs(t *testing.T, repository string) map[string][]string {
	t.Helper()
	return map[string][]string{
		"lint": {"lint", chartCatalog(t, repository, "1.0.0"), "--charts"},
		"list": {"list", chartCatalog(t, repository, "1.0.0"), "--images", "--charts"},
		"diff": {"diff", "--from", chartCatalog(t, repository, "0.9.0"), "--to", chartCatalog(t, repository, "1.0.0"), "--charts"},
	}
}

// webChart is the archive of a chart.
func webChart(t *testing.T) []byte {
	t.Helper()
	packed, err := fetching.Pack(t.Context(), "web", fstest.MapFS{
		"Chart.yaml":          {Data: []byte("apiVersion: v2\nname: web\nversion: 1.0.0\n")},
		"templates/pods.yaml": {Data: []byte("apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: web, image: quay.io/org/web}]}\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	return packed
}

// chartIndex is an index.yaml with both versions of the chart at one address.
func chartIndex(address string) string {
	return fmt.Sprintf("apiVersion: v1\nentries:\n  web:\n  - {version: 0.9.0, urls: [%q]}\n  - {version: 1.0.0, urls: [%q]}\n", address, address)
}

// A hostile repository, or a hostile registry, at a public address directs requests into the network of this machine.
func TestAPublicHostDirectsNoRequestInside(t *testing.T) {
	chart := webChart(t)
	answer := func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(chart) }
	plain, secure := startService(t, false, answer), startService(t, true, answer)
	var target string
	authority := servePublic(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/named/index.yaml":
			_, _ = io.WriteString(w, chartIndex(target))
		case "/redirected/index.yaml":
			_, _ = io.WriteString(w, chartIndex("there"))
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
		{"this machine, mapped to IPv6", "https://[::ffff:127.0.0.1]:" + secure.port() + "/x", "internal address 127.0.0.1"},
		{"this machine, mapped to IPv6 in hexadecimal digits", "https://[::ffff:7f00:1]:" + secure.port() + "/x", "internal address 127.0.0.1"},
		{"this machine, translated to IPv6", "https://[64:ff9b::7f00:1]:" + secure.port() + "/x", "internal address 127.0.0.1"},
		{"this machine, in a tunnel of IPv6", "https://[2002:7f00:1::]:" + secure.port() + "/x", "internal address 127.0.0.1"},
		{"no address", "https://0.0.0.0:" + secure.port() + "/x", "internal address 0.0.0.0"},
		{"no address of IPv6", "https://[::]:" + secure.port() + "/x", "internal address ::"},
		{"a name of this machine", "https://localhost:" + secure.port() + "/x", "internal address "},
		{"a decimal address", "https://2130706433:" + secure.port() + "/x", ""}, // a name, of which resolvers make what they like
		{"a hexadecimal address", "https://0x7f.1:" + secure.port() + "/x", ""},
		{"a file", "file:///etc/hostname", ""},
		{"another scheme", "gopher://127.0.0.1:" + plain.port() + "/x", ""},
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
				if found := plain.seen() + secure.seen(); found != "" {
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

// A file of functions on a public web server is not fetched from this machine.
func TestADownloadIsDirectedNowhereInside(t *testing.T) {
	secure := startService(t, true, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "inside") })
	authority := servePublic(t, http.RedirectHandler(secure.URL+"/x", http.StatusFound))
	line := []string{"functions", "view", "https://example.com/catalog.yaml@" + digest.FromString("inside").String(), "--ca-file", authority}
	for _, test := range []struct {
		flags      []string
		want, seen string
	}{
		{nil, "internal address 127.0.0.1", ""},
		{[]string{"--plain-http"}, "internal address 127.0.0.1", ""},
		{[]string{"--allowed-token-hosts=" + secure.host()}, "must be a mapping, not a string", "GET /x"},
	} {
		got := clitest.Execute(t.Context(), append(line, test.flags...)...)
		if found := secure.seen(); found != test.seen || got.Code == root.ExitOK || !strings.Contains(got.Stderr, test.want) {
			t.Errorf("%v: the network received %q, want %q: %s", test.flags, found, test.seen, got.Stderr)
		}
	}
}

// Without TLS, only hosts of --plain-http are requested: not even the repository that the catalog names, nor another host
// beside the one of the flag.
func TestOnlyHostsOfTheFlagAreRequestedWithoutTLS(t *testing.T) {
	forgetful(t)
	chart := webChart(t)
	other := startService(t, false, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(chart) })
	first := startService(t, false, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/own/index.yaml":
			_, _ = io.WriteString(w, chartIndex("x"))
		case "/own/x":
			_, _ = w.Write(chart)
		case "/named/index.yaml":
			_, _ = io.WriteString(w, chartIndex(other.URL+"/x"))
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
		{"no flag, in a registry", "oci://" + first.host() + "/charts", "", ""},
		{"the flag for another host", first.URL + "/own", "--plain-http=" + other.host(), ""},
		{"the flag for another port", first.URL + "/own", "--plain-http=127.0.0.1", ""},
		{"the flag for the host", first.URL + "/own", "--plain-http=" + first.host(), "first"},
		{"an archive at another host", first.URL + "/named", "--plain-http=" + first.host(), "first"},
		{"a redirect to another host", first.URL + "/moved", "--plain-http=" + first.host(), "first"},
		{"a redirect of a registry to another host", "oci://" + first.host() + "/charts", "--plain-http=" + first.host(), "first"},
		{"a redirect to an allowed host", first.URL + "/moved", "--plain-http", "first other"},
	} {
		for verb, line := range chartVerbs(t, test.repository) {
			if test.flag != "" {
				line = append(line, test.flag)
			}
			got := clitest.Execute(t.Context(), line...)
			var requested []string
			for name, s := range map[string]*service{"first": first, "other": other} {
				found := s.seen()
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
	forgetful(t)
	chart := webChart(t)
	store := startService(t, true, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(chart) })
	first := startService(t, true, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/stable/index.yaml":
			_, _ = io.WriteString(w, chartIndex("../x"))
		case "/x":
			http.Redirect(w, r, store.URL+"/blob", http.StatusFound)
		default:
			serveChartManifest(w, r, chart, store.URL+"/blob")
		}
	})
	authority := filepath.Join(t.TempDir(), "ca.pem")
	clitest.WriteFile(t, authority, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: first.Certificate().Raw})))
	for _, repository := range []string{first.URL + "/stable", "oci://" + first.host() + "/charts"} {
		got := clitest.Execute(t.Context(), "list", chartCatalog(t, repository, "1.0.0"), "--images", "--charts", "--ca-file", authority)
		if got.Code != root.ExitOK || !strings.Contains(got.Stdout, "quay.io/org/web") || store.seen() != "GET /blob" {
			t.Errorf("%s: %d\n%s%s", repository, got.Code, got.Stdout, got.Stderr)
		}
	}
}

// The credentials of a host and port are sent to no other one, whatever redirects to it.
func TestCredentialsAreForTheirHostAndPort(t *testing.T) {
	directory := forgetful(t)
	chart := webChart(t)
	var back string
	other := startService(t, true, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/back" {
			http.Redirect(w, r, back, http.StatusFound)
			return
		}
		_, _ = w.Write(chart)
	})
	first := startService(t, true, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/stable/index.yaml":
			_, _ = io.WriteString(w, chartIndex("x"))
		case r.URL.Path == "/stable/x":
			http.Redirect(w, r, other.URL+"/x", http.StatusFound)
		case r.URL.Path == "/round/index.yaml":
			_, _ = io.WriteString(w, chartIndex("x"))
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
		{"a repository", first.host(), first.URL + "/stable", "GET /stable/index.yaml Basic " + basic + ", GET /stable/x Basic " + basic, "GET /x"},
		{"a way back", first.host(), first.URL + "/round", "GET /round/index.yaml Basic " + basic + ", GET /round/x Basic " + basic + ", GET /end", "GET /back"},
		{"a host without a port", "127.0.0.1", first.URL + "/stable", "GET /stable/index.yaml, GET /stable/x", "GET /x"},
		{"another port", other.host(), first.URL + "/stable", "GET /stable/index.yaml, GET /stable/x", "GET /x"},
		{"a registry", first.host(), "oci://" + first.host() + "/charts", "GET /v2/charts/web/manifests/1.0.0, GET /v2/charts/web/manifests/1.0.0 Basic " + basic +
			", GET /v2/charts/web/blobs/" + digest.FromBytes(chart).String() + " Basic " + basic, "GET /blob"},
	} {
		clitest.WriteFile(t, filepath.Join(directory, "config.json"), fmt.Sprintf(`{"auths": {%q: {"auth": %q}}}`, test.stored, basic))
		got := clitest.Execute(t.Context(), "list", chartCatalog(t, test.repository, "1.0.0"), "--images", "--charts", "--ca-file", authority)
		gotFirst, gotOther := first.seen(), other.seen()
		if got.Code != root.ExitOK || !strings.Contains(got.Stdout, "quay.io/org/web") {
			t.Errorf("%s: %d\n%s%s", test.name, got.Code, got.Stdout, got.Stderr)
		}
		if gotFirst != test.want || gotOther != test.wantOther {
			t.Errorf("%s: the host received %q, want %q, and the other one %q, want %q", test.name, gotFirst, test.want, gotOther, test.wantOther)
		}
	}
}

// Of what a hostile repository answers, a bounded part is read, and nothing is written but to the cache.
func TestLintReadsABoundedPartOfAHostileRepository(t *testing.T) {
	chart := webChart(t)
	for _, test := range []struct {
		name    string
		handler http.HandlerFunc
		want    string
	}{
		{"an index without an end", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.Copy(w, endless("- x\n")) }, "it has more than 33554432 bytes"},
		{"an archive without an end", func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "index.yaml") {
				_, _ = io.WriteString(w, chartIndex("../../../x"))
				return
			}
			_, _ = io.Copy(w, endless("x"))
		}, "it has more than 33554432 bytes"},
		{"redirects without an end", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/a"+r.URL.Path, http.StatusFound)
		}, "it is redirected more than 10 times"},
		{"an index that names itself", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, chartIndex("index.yaml")) }, "web"},
		{"an archive above the repository", func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/stable/index.yaml":
				_, _ = io.WriteString(w, chartIndex("../../../../etc/passwd"))
			case "/etc/passwd":
				_, _ = w.Write(chart)
			default:
				w.WriteHeader(http.StatusNotFound)
			}
		}, "spec.description is missing"},
		{"a response that ends early", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, "entries:")
		}, "unexpected EOF"},
	} {
		t.Run(test.name, func(t *testing.T) {
			authority := servePublic(t, test.handler)
			got := clitest.Execute(t.Context(), "lint", chartCatalog(t, "https://example.com/stable", "1.0.0"), "--charts", "--ca-file", authority)
			if out := got.Stdout + got.Stderr; !strings.Contains(out, test.want) || strings.Contains(out, "panic") {
				t.Errorf("%d: want %q\n%s", got.Code, test.want, out)
			}
		})
	}
}

// endless is a text that repeats without an end.
func endless(text string) io.Reader { return &repeated{bytes.Repeat([]byte(text), 1<<12)} }

type repeated struct{ text []byte }

func (r *repeated) Read(p []byte) (int, error) { return copy(p, r.text), nil }

// A repository that never answers does not keep an interrupted command line.
func TestLintIsInterruptedWhileARepositoryIsSilent(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	authority := servePublic(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "entries:\n")
		w.(http.Flusher).Flush()
		cancel()
		<-r.Context().Done()
	}))
	got := clitest.Execute(ctx, "lint", chartCatalog(t, "https://example.com/stable", "1.0.0"), "--charts", "--ca-file", authority)
	if got.Code != root.ExitFailed || got.Stderr != "winnow: interrupted\n" {
		t.Errorf("%d\n%s%s", got.Code, got.Stdout, got.Stderr)
	}
}

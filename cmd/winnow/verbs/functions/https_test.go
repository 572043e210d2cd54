// SPDX-License-Identifier: Apache-2.0

package functions_test

import (
	"crypto/sha256"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/test/clitest"
)

// webServer serves files by https, and writes its certificate to a file.
func webServer(t *testing.T, handler http.HandlerFunc) (address, authority string) {
	t.Helper()
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	authority = filepath.Join(t.TempDir(), "ca.pem")
	clitest.WriteFile(t, authority, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	return server.URL, authority
}

// kepCatalog is the catalog that the platform team of the KEP's second story publishes, with images by tags.
func kepCatalog(registry string) string {
	text := "apiVersion: config.kubernetes.io/v1alpha1\nkind: Catalog\nmetadata:\n  name: \"example-co-functions\"\nspec:\n  krmFunctions:\n"
	for _, kind := range []string{"JavaApplication", "SecretSidecar"} {
		text += "  - group: example.com\n    names:\n      kind: " + kind + "\n    description: \"A function\"\n    versions:\n    - name: v1\n    runtime:\n      container:\n        image: " + registry + "/catalog:v1\n"
	}
	return text
}

// Story 2 of the KEP: the catalog is on a web server, its images have tags, and their digests are recorded.
func TestFunctionsOfACatalogOnAWebServer(t *testing.T) {
	registry := clitest.StartRegistry(t)
	text := kepCatalog(registry)
	address, authority := webServer(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/kustomize/catalog.yaml" || r.Header.Get("Authorization") != "" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = w.Write([]byte(text))
	})
	address += "/kustomize/catalog.yaml"
	digested := fmt.Sprintf("%s@sha256:%x", address, sha256.Sum256([]byte(text)))

	got := clitest.Execute(t.Context(), "functions", "view", digested, "--ca-file", authority)
	if got.Code != root.ExitOK || !strings.Contains(got.Stdout, "JavaApplication.example.com") ||
		!strings.Contains(got.Stderr, "warning: "+address+":7: the function JavaApplication does not have publisher") {
		t.Fatalf("view: %d\n%s%s", got.Code, got.Stdout, got.Stderr)
	}

	app := t.TempDir()
	for name, content := range map[string]string{
		"kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\ncatalogs:\n- " + address + "\ntransformers:\n- java.yaml\n- secrets.yaml\n",
		"java.yaml":          "apiVersion: example.com/v1\nkind: JavaApplication\nspec:\n  version: v1.0\n",
		"secrets.yaml":       "apiVersion: example.com/v1\nkind: SecretSidecar\nspec:\n  path: /etc/secrets\n",
	} {
		clitest.WriteFile(t, filepath.Join(app, name), content)
	}
	resolve := func(args ...string) clitest.Execution {
		return clitest.Execute(t.Context(), append([]string{"functions", "resolve", app, "--ca-file", authority, "--plain-http"}, args...)...)
	}
	if got := resolve(); got.Code != root.ExitFindings || !strings.Contains(got.Stderr, "pass --trusted-catalog "+address+"@sha256:DIGEST\n") {
		t.Errorf("without trust: %d\n%s", got.Code, got.Stderr)
	}
	if got := resolve("--trusted-catalog", digested); got.Code != root.ExitFindings ||
		!strings.Contains(got.Stderr, "without a digest: pass --pin to record the registry's digest in the config ("+address+":13)") {
		t.Errorf("without --pin: %d\n%s", got.Code, got.Stderr)
	}
	if got := resolve("--trusted-catalog", digested, "--pin"); got.Code != root.ExitOK || got.Stdout != "--enable-alpha-plugins\n" {
		t.Fatalf("resolve: %d\n%s%s", got.Code, got.Stdout, got.Stderr)
	}
	resolved := clitest.ReadFile(t, filepath.Join(app, "java.yaml"))
	if !strings.Contains(resolved, "image: "+registry+"/catalog:v1@sha256:") || !strings.Contains(resolved, "catalog.winnow.dev/function-digest: sha256:") {
		t.Errorf("resolved:\n%s", resolved)
	}
	// The digest is recorded: no registry is asked again, until --update asks it.
	if got := resolve("--catalog", digested, "--check"); got.Code != root.ExitOK {
		t.Errorf("--check: %d\n%s", got.Code, got.Stderr)
	}
	_, now, _ := strings.Cut(resolved, "function-digest: ")
	now, _, _ = strings.Cut(now, "\n")
	for _, name := range []string{"java.yaml", "secrets.yaml"} {
		config := filepath.Join(app, name)
		clitest.WriteFile(t, config, strings.ReplaceAll(clitest.ReadFile(t, config), now, "sha256:"+strings.Repeat("0a", 32)))
	}
	if got := resolve("--catalog", digested, "--check"); got.Code != root.ExitOK {
		t.Errorf("--check of what the tag was: %d\n%s", got.Code, got.Stderr)
	}
	if got := resolve("--catalog", digested, "--update", "--pin"); got.Code != root.ExitOK || !strings.Contains(clitest.ReadFile(t, filepath.Join(app, "java.yaml")), "/catalog:v1@"+now+"\n") {
		t.Errorf("--update --pin: %d\n%s", got.Code, got.Stderr)
	}
}

func TestDownloadsOfCatalogsAreRefused(t *testing.T) {
	const text = "apiVersion: config.kubernetes.io/v1alpha1\nkind: Catalog\nmetadata: {name: a}\nspec: {krmFunctions: []}\n"
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) }))
	t.Cleanup(plain.Close)
	address, authority := webServer(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/catalog.yaml":
			_, _ = w.Write([]byte(text))
		case "/large":
			_, _ = w.Write([]byte(strings.Repeat("#", 1<<20+1)))
		case "/moved":
			http.Redirect(w, r, "/catalog.yaml", http.StatusFound)
		case "/plain":
			http.Redirect(w, r, plain.URL, http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		default:
			w.WriteHeader(http.StatusUnauthorized)
		}
	})
	digest := fmt.Sprintf("@sha256:%x", sha256.Sum256([]byte(text)))
	for _, test := range []struct{ reference, want string }{
		{address + "/catalog.yaml" + digest, ""},
		{address + "/moved" + digest, ""},
		{address + "/catalog.yaml", " has no digest, so its server decides what runs: look at the file, and append @sha256:"},
		{address + "/catalog.yaml@sha256:abc", " has no digest, so its server decides what runs"},
		{address + "/catalog.yaml@sha256:" + strings.Repeat("0a", 32), "its sha256 is " + strings.TrimPrefix(digest, "@sha256:") + ", not 0a0a"},
		{address + "/large" + digest, "it is larger than 1048576 bytes"},
		{address + "/plain" + digest, `the server redirects to "` + plain.URL + `", which is not https`},
		{address + "/loop" + digest, "the server redirects more than 5 times"},
		{address + "/private" + digest, "the server answers with the status 401: want a file that anyone may read"},
		{strings.Replace(address, "https://", "https://user:secret@", 1) + "/catalog.yaml" + digest, "it has a user, a password, a query or a fragment"},
		{address + "/catalog.yaml?token=secret" + digest, "it has a user, a password, a query or a fragment"},
		{address + "/catalog.yaml#a" + digest, "it has a user, a password, a query or a fragment"},
	} {
		got := clitest.Execute(t.Context(), "functions", "view", test.reference, "--ca-file", authority)
		if test.want == "" {
			if got.Code != root.ExitOK {
				t.Errorf("%s: %d %s", test.reference, got.Code, got.Stderr)
			}
			continue
		}
		if got.Code != root.ExitFailed || !strings.Contains(got.Stderr, test.want) || strings.Contains(got.Stderr, "secret") {
			t.Errorf("%s: %d %s\nwant %s", test.reference, got.Code, got.Stderr, test.want)
		}
	}
	got := clitest.Execute(t.Context(), "functions", "view", address+"/catalog.yaml"+digest)
	if got.Code != root.ExitFailed || !strings.Contains(got.Stderr, "certificate") {
		t.Errorf("without the authority: %d %s", got.Code, got.Stderr)
	}
}

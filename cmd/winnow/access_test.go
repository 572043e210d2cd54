// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/test/clitest"
)

// startSecureRegistry returns the host of a registry that requires a client certificate, and files with its
// authority, and with a certificate and its key.
func startSecureRegistry(t *testing.T) (host, authority, certificate, key string) {
	t.Helper()
	packed, err := clitest.Pack("../../examples/catalog")
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(clitest.NewRegistry(t, packed))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	server.StartTLS()
	t.Cleanup(server.Close)
	dir := t.TempDir()
	authority, certificate, key = filepath.Join(dir, "ca.pem"), filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	raw, err := x509.MarshalPKCS8PrivateKey(server.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	encoded := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	clitest.WriteFile(t, authority, encoded)
	clitest.WriteFile(t, certificate, encoded)
	clitest.WriteFile(t, key, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw})))
	return strings.TrimPrefix(server.URL, "https://"), authority, certificate, key
}

func TestRegistriesWithAnAuthorityOfTheirOwn(t *testing.T) {
	host, authority, certificate, key := startSecureRegistry(t)
	plain := clitest.StartRegistry(t)
	flags := " --ca-file " + authority + " --cert-file " + certificate + " --key-file " + key
	const file = "../../examples/gitops/selection.yaml"
	for _, test := range []struct {
		line string
		code int
		want string // on stderr
	}{
		{"lint oci://" + host + "/catalog" + flags, root.ExitOK, ""},
		{"list oci://" + host + "/catalog" + flags, root.ExitOK, ""},
		{"render -f " + file + " --source oci://" + host + "/catalog" + flags, root.ExitOK, ""},
		{"explain -f " + file + " argocd --source oci://" + host + "/catalog" + flags, root.ExitOK, ""},
		{"pull oci://" + host + "/catalog -o " + filepath.Join(t.TempDir(), "out") + flags, root.ExitOK, ""},
		{"push ../../examples/catalog oci://" + host + "/push:v1" + flags, root.ExitOK, ""},
		{"diff --from oci://" + host + "/catalog --to oci://" + plain + "/catalog --plain-http=" + plain + flags, root.ExitOK, ""},
		{"diff --from oci://" + host + "/catalog --to oci://" + plain + "/catalog" + flags, root.ExitFailed, "a registry without TLS needs --plain-http=" + plain},
		{"diff --from oci://" + host + "/catalog --to oci://" + plain + "/catalog --plain-http" + flags, root.ExitFailed, "a registry with TLS needs no --plain-http"},
		{"lint oci://" + host + "/catalog", root.ExitFailed, "pass --ca-file with the authority of " + host},
		{"lint oci://" + host + "/catalog --ca-file " + authority, root.ExitFailed, "certificate required"},
		{"lint oci://" + host + "/catalog --ca-file " + key, root.ExitFailed, "has no certificate in PEM"},
		{"lint oci://" + host + "/catalog --ca-file /dev/zero", root.ExitFailed, "--ca-file: /dev/zero is larger than 1048576 bytes"},
		{"lint oci://" + host + "/catalog --ca-file absent.pem", root.ExitFailed, "--ca-file: open absent.pem"},
		{"push ../../examples/catalog oci://" + host + "/push:v1 --ca-file absent.pem", root.ExitFailed, "--ca-file: open absent.pem"},
		{"lint oci://" + host + "/catalog --cert-file " + authority, root.ExitFailed, "key-file"},
		{"lint oci://" + host + "/catalog --cert-file " + key + " --key-file " + key, root.ExitFailed, "--cert-file and --key-file: "},
		{"lint oci://" + plain + "/catalog --plain-http=other --plain-http=" + plain, root.ExitOK, ""},
		{"lint oci://" + plain + "/catalog --plain-http", root.ExitOK, ""},
		{"lint oci://" + plain + "/catalog --plain-http=true", root.ExitOK, ""},
		{"lint oci://" + plain + "/catalog --plain-http=false", root.ExitFailed, "needs --plain-http="},
		{"lint oci://" + plain + "/catalog --plain-http=other", root.ExitFailed, "needs --plain-http="},
		{"lint oci://" + plain + "/catalog --plain-http=http://" + plain, root.ExitFailed, "want HOST or HOST:PORT"},
	} {
		t.Run(strings.ReplaceAll(test.line, t.TempDir(), ""), func(t *testing.T) {
			got := clitest.Execute(t.Context(), strings.Fields(test.line)...)
			if got.Code != test.code || !strings.Contains(got.Stderr, test.want) {
				t.Errorf("exit code %d, want %d: %s", got.Code, test.code, got.Stderr)
			}
			if strings.Contains(got.Stderr, "PRIVATE KEY") {
				t.Error("the key is printed")
			}
		})
	}
}

// The errors of a registry with TLS have advice on trust and on plain HTTP.
func TestAdviseOnTLS(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "https://")
	for _, test := range []struct {
		args []string
		want string
	}{
		{nil, "; pass --ca-file with the authority of " + host + ", or trust it on this machine\n"},
		{[]string{"--plain-http"}, "; a registry with TLS needs no --plain-http\n"},
	} {
		got := clitest.Execute(t.Context(), append([]string{"lint", "oci://" + host + "/catalog:v1"}, test.args...)...)
		if got.Code != root.ExitFailed || !strings.HasSuffix(got.Stderr, test.want) {
			t.Errorf("%q: got %+v, want %q", test.args, got, test.want)
		}
	}
}

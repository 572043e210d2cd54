// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/runtime/secrets"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/failure"
	"github.com/winnow-dev/winnow/test/stack"
)

// identity is a self-signed certificate with its key.
type identity struct {
	tls.Certificate
	certificatePEM, keyPEM []byte
}

func newIdentity(t *testing.T) identity {
	t.Helper()
	var i identity
	var err error
	if i.certificatePEM, i.keyPEM, err = stack.NewCertificate(); err != nil {
		t.Fatal(err)
	}
	if i.Certificate, err = tls.X509KeyPair(i.certificatePEM, i.keyPEM); err != nil {
		t.Fatal(err)
	}
	return i
}

// The registry authenticates its clients by certificates.
func TestARegistryWithClientCertificates(t *testing.T) {
	server, client, stranger := newIdentity(t), newIdentity(t), newIdentity(t)
	front := httptest.NewUnstartedServer(newFront(t).Config.Handler)
	front.Config.ErrorLog = log.New(io.Discard, "", 0)
	known := x509.NewCertPool()
	known.AppendCertsFromPEM(client.certificatePEM)
	front.TLS = &tls.Config{
		Certificates: []tls.Certificate{server.Certificate}, MinVersion: tls.VersionTLS12,
		ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: known,
	}
	front.StartTLS()
	defer front.Close()

	e := newEnvironment(t)
	for name, of := range map[string]identity{"mine": client, "another": stranger} {
		secret, err := secrets.MakeTLSSecret(name, e.namespace, secrets.WithCAData(server.certificatePEM),
			secrets.WithCertKeyPair(of.certificatePEM, of.keyPEM))
		if err != nil {
			t.Fatal(err)
		}
		e.create(secret)
	}
	use := func(secret string) {
		e.pushed(e.repositoryAt(registryHost), shaped(catalogLayer(applications(t, "argocd"))), func(r *sourcev1.OCIRepository) {
			r.Spec.URL = strings.Replace(r.Spec.URL, registryHost, front.Listener.Addr().String(), 1)
			r.Spec.Insecure, r.Spec.CertSecretRef = false, reference(secret)
		})
	}
	use("another")
	e.selectByManifest(func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Push = &v1alpha1.Push{
			URL: "oci://" + front.Listener.Addr().String() + "/" + e.namespace + "/rendered", CertSecretRef: reference("mine"),
		}
	})
	if _, err := e.tryReconcile("kkp"); failure.ReasonOf(err) != v1alpha1.FetchFailedReason || !strings.Contains(err.Error(), "tls: ") {
		t.Errorf("Reconcile() = %v", err)
	}
	use("mine")
	e.reconcile("kkp")
	e.push()
	e.equal("conditions", conditionsOf(e.reconcile("kkp")), []string{"Pushed=True Succeeded", "Ready=True Succeeded"})
	if key := string(client.keyPEM); strings.Contains(e.everythingWritten(), strings.Split(key, "\n")[1]) {
		t.Error("the key is in the output")
	}
}

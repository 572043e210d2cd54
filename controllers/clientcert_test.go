package controllers

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/runtime/secrets"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// identity is a key with a certificate that vouches for itself.
type identity struct {
	key         *ecdsa.PrivateKey
	certificate []byte // DER
}

func newIdentity(t *testing.T) identity {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return identity{key, certificate}
}

func (i identity) certificatePEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.certificate})
}

func (i identity) keyPEM(t *testing.T) []byte {
	t.Helper()
	der, err := x509.MarshalECPrivateKey(i.key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
}

func (i identity) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(i.certificatePEM())
	return pool
}

// A registry that knows its clients by their certificates.
func TestARegistryThatWantsAClientCertificate(t *testing.T) {
	server, client, stranger := newIdentity(t), newIdentity(t), newIdentity(t)
	front := httptest.NewUnstartedServer(newFront(t).Config.Handler)
	front.Config.ErrorLog = log.New(io.Discard, "", 0)
	front.TLS = &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{server.certificate}, PrivateKey: server.key}},
		ClientAuth:   tls.RequireAndVerifyClientCert, ClientCAs: client.pool(), MinVersion: tls.VersionTLS12,
	}
	front.StartTLS()
	defer front.Close()

	e := newEnvironment(t)
	for name, of := range map[string]identity{"mine": client, "another": stranger} {
		secret, err := secrets.MakeTLSSecret(name, e.namespace, secrets.WithCAData(server.certificatePEM()),
			secrets.WithCertKeyPair(of.certificatePEM(), of.keyPEM(t)))
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
	if _, err := e.tryReconcile("kkp"); reasonOf(err) != v1alpha1.FetchFailedReason || !strings.Contains(err.Error(), "tls: ") {
		t.Errorf("Reconcile() = %v", err)
	}
	use("mine")
	e.reconcile("kkp")
	e.push()
	e.equal("conditions", conditionsOf(e.reconcile("kkp")), []string{"Pushed=True Succeeded", "Ready=True Succeeded"})
	if key := string(client.keyPEM(t)); strings.Contains(e.everythingWritten(), strings.Split(key, "\n")[1]) {
		t.Error("the key is in what was written")
	}
}

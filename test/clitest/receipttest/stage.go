// SPDX-License-Identifier: Apache-2.0

// Package receipttest has registries with the receipts of clusters, and the repositories that they are about, for tests of the
// verbs that read them. It must not know what a verb prints.
package receipttest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/cmd/winnow/receipt"
	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/registry"
	"github.com/winnow-dev/winnow/test/clitest"
	"github.com/winnow-dev/winnow/test/farm"
)

// pemOf returns the private and the public key of a cluster in PEM.
func pemOf(t testing.TB, key crypto.Signer) (private, public string) {
	t.Helper()
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	shared, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	encode := func(kind string, der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	return encode("PRIVATE KEY", secret), encode("PUBLIC KEY", shared)
}

// Stage is a registry with receipts, and a repository with the stage that they are about.
type Stage struct {
	*clitest.Registry

	T       testing.TB
	Host    string
	Digest  string            // of the artifact that the stage has
	Private map[string]string // keys of the clusters, in PEM, by name

	files map[string]string // with the public keys
}

// DigestOf returns a digest of one letter.
func DigestOf(letter string) string { return "sha256:" + strings.Repeat(letter, 64) }

// lokiObject is the identity of the definition in the artifact.
const lokiObject = "_loki_apps.kubermatic.k8c.io_ApplicationDefinition"

// PushLoki renders an artifact with a definition, and pushes it to a repository.
func (f *Stage) PushLoki(repository string) {
	f.T.Helper()
	dir := f.T.TempDir()
	write := func(name, content string) string {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(content), 0o600)); err != nil {
			f.T.Fatal(err)
		}
		return file
	}
	write("catalog/applications/loki/metadata.yaml", "name: loki\n")
	write("catalog/applications/loki/application.yaml", `apiVersion: apps.kubermatic.k8c.io/v1
kind: ApplicationDefinition
metadata: {name: loki}
spec:
  description: logs
  method: helm
  versions: [{version: 1.0.0, template: {source: {helm: {url: "https://charts.example.com", chartName: loki, chartVersion: 1.0.0}}}}]
`)
	selection := write("selection.yaml", "apiVersion: catalog.winnow.dev/v1alpha1\nkind: CatalogSelection\nmetadata: {name: a, namespace: a}\n"+
		"spec: {interval: 1h, sources: [{kind: OCIRepository, name: catalog}]}\n")
	if got := clitest.Execute(f.T.Context(), "render", "-f", selection, "--source", filepath.Join(dir, "catalog"), "--archive", filepath.Join(dir, "archive")); got.Code != root.ExitOK {
		f.T.Fatalf("%+v", got)
	}
	archive, err := os.ReadFile(filepath.Join(dir, "archive"))
	if err == nil {
		f.Digest, err = clitest.PushRendered(f.T.Context(), f.Host, repository, "latest", archive)
	}
	if err != nil {
		f.T.Fatal(err)
	}
}

// NewStage starts the registry, commits the repository and changes to its directory. The stage had the digest a before, and
// has the digest of an artifact with loki now.
func NewStage(t testing.TB, clusters ...string) *Stage {
	t.Helper()
	f := &Stage{T: t, Registry: clitest.EmptyRegistry(), Private: map[string]string{}, files: map[string]string{}}
	server := httptest.NewServer(f.Registry)
	t.Cleanup(server.Close)
	f.Host = strings.TrimPrefix(server.URL, "http://")
	for i, name := range clusters {
		var key crypto.Signer
		_, key, err := ed25519.GenerateKey(rand.Reader)
		if i%2 == 1 {
			key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		}
		if err != nil {
			t.Fatal(err)
		}
		f.Private[name], f.files["spokes/staging/clusters/"+name+".pub"] = pemOf(t, key)
	}
	f.PushLoki("rendered")
	const file = "spokes/staging/applications.yaml"
	stage := func(digest string) string {
		return "apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata:\n  name: applications\n  namespace: flux-system\nspec:\n  url: oci://" + f.Host +
			"/rendered\n  insecure: true\n  ref:\n    digest: " + digest + "\n"
	}
	f.files[file] = stage(DigestOf("a"))
	dir := t.TempDir()
	if err := farm.Commit(t.Context(), dir, f.files, map[string]string{file: stage(f.Digest)}); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	return f
}

// Applied returns what a healthy cluster of the stage has applied.
func Applied(digest string) receipt.Kustomization {
	return receipt.Kustomization{
		Namespace: "flux-system", Name: "applications", Source: "flux-system/applications", Digest: digest, Objects: []string{lokiObject},
		Ready: metav1.ConditionTrue, Reason: "ReconciliationSucceeded",
	}
}

// Sign returns an envelope.
func (f *Stage) Sign(by, cluster string, age time.Duration, edit func(*receipt.Receipt)) []byte {
	f.T.Helper()
	key, err := receipt.ReadPrivateKey([]byte(f.Private[by]))
	if err != nil {
		f.T.Fatal(err)
	}
	r := receipt.New(cluster, time.Now().Add(-age), []receipt.Kustomization{Applied(f.Digest)},
		[]receipt.Definition{{APIVersion: "apps.kubermatic.k8c.io/v1", Kind: "ApplicationDefinition", Name: "loki", Versions: []string{"1.0.0"}}}, nil)
	if edit != nil {
		edit(r)
	}
	envelope, err := receipt.Sign(f.T.Context(), r, key)
	if err != nil {
		f.T.Fatal(err)
	}
	return envelope
}

// Publish stores a receipt under the name of a cluster.
func (f *Stage) Publish(cluster string, envelope []byte) {
	f.T.Helper()
	packed, err := registry.Pack(receipt.ArtifactType, registry.NewBlob(receipt.LayerType, envelope), nil)
	if err != nil {
		f.T.Fatal(err)
	}
	f.SetBlob(packed.Layer.Descriptor.Digest.String(), envelope)
	f.Put("receipts/"+cluster, v1.MediaTypeImageManifest, packed.Manifest.Content, "latest")
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
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

// fleetOfReceipts is a registry with receipts, and a repository with the stage that they are about.
type fleetOfReceipts struct {
	*clitest.Registry

	t             testing.TB
	host          string
	digest        string // of the artifact that the stage has
	private, keys map[string]string
}

// digestOf returns the digest of an artifact.
func digestOf(letter string) string { return "sha256:" + strings.Repeat(letter, 64) }

// lokiObject is the identity of the definition in the artifact.
const lokiObject = "_loki_apps.kubermatic.k8c.io_ApplicationDefinition"

// pushLoki renders an artifact with a definition, and pushes it to a repository.
func (f *fleetOfReceipts) pushLoki(repository string) {
	f.t.Helper()
	dir := f.t.TempDir()
	write := func(name, content string) string {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(content), 0o600)); err != nil {
			f.t.Fatal(err)
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
	if got := clitest.Execute(f.t.Context(), "render", "-f", selection, "--source", filepath.Join(dir, "catalog"), "--archive", filepath.Join(dir, "archive")); got.Code != root.ExitOK {
		f.t.Fatalf("%+v", got)
	}
	archive, err := os.ReadFile(filepath.Join(dir, "archive"))
	if err == nil {
		f.digest, err = clitest.PushRendered(f.t.Context(), f.host, repository, "latest", archive)
	}
	if err != nil {
		f.t.Fatal(err)
	}
}

// The stage had the digest a before, and has that of an artifact with loki now.
func newFleetOfReceipts(t testing.TB, clusters ...string) *fleetOfReceipts {
	t.Helper()
	f := &fleetOfReceipts{t: t, Registry: clitest.EmptyRegistry(), private: map[string]string{}, keys: map[string]string{}}
	server := httptest.NewServer(f.Registry)
	t.Cleanup(server.Close)
	f.host = strings.TrimPrefix(server.URL, "http://")
	for i, name := range clusters {
		var key crypto.Signer
		_, key, err := ed25519.GenerateKey(rand.Reader)
		if i%2 == 1 {
			key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		}
		if err != nil {
			t.Fatal(err)
		}
		f.private[name], f.keys["spokes/staging/clusters/"+name+".pub"] = pemOf(t, key)
	}
	f.pushLoki("rendered")
	const file = "spokes/staging/applications.yaml"
	stage := func(digest string) string {
		return "apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata:\n  name: applications\n  namespace: flux-system\nspec:\n  url: oci://" + f.host +
			"/rendered\n  insecure: true\n  ref:\n    digest: " + digest + "\n"
	}
	f.keys[file] = stage(digestOf("a"))
	dir := t.TempDir()
	if err := farm.Commit(t.Context(), dir, f.keys, map[string]string{file: stage(f.digest)}); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	return f
}

// applied is what a healthy cluster of the stage has applied.
func applied(digest string) receipt.Kustomization {
	return receipt.Kustomization{
		Namespace: "flux-system", Name: "applications", Source: "flux-system/applications", Digest: digest, Objects: []string{lokiObject},
		Ready: metav1.ConditionTrue, Reason: "ReconciliationSucceeded",
	}
}

// sign returns an envelope.
func (f *fleetOfReceipts) sign(by, cluster string, age time.Duration, edit func(*receipt.Receipt)) []byte {
	f.t.Helper()
	key, err := receipt.ReadPrivateKey([]byte(f.private[by]))
	if err != nil {
		f.t.Fatal(err)
	}
	r := receipt.New(cluster, time.Now().Add(-age), []receipt.Kustomization{applied(f.digest)},
		[]receipt.Definition{{APIVersion: "apps.kubermatic.k8c.io/v1", Kind: "ApplicationDefinition", Name: "loki", Versions: []string{"1.0.0"}}}, nil)
	if edit != nil {
		edit(r)
	}
	envelope, err := receipt.Sign(f.t.Context(), r, key)
	if err != nil {
		f.t.Fatal(err)
	}
	return envelope
}

// publish stores a receipt under the name of a cluster.
func (f *fleetOfReceipts) publish(cluster string, envelope []byte) {
	f.t.Helper()
	packed, err := registry.Pack(receipt.ArtifactType, registry.NewBlob(receipt.LayerType, envelope), nil)
	if err != nil {
		f.t.Fatal(err)
	}
	f.SetBlob(packed.Layer.Descriptor.Digest.String(), envelope)
	f.Put("receipts/"+cluster, v1.MediaTypeImageManifest, packed.Manifest.Content, "latest")
}

func (f *fleetOfReceipts) fleet(args ...string) clitest.Execution {
	return clitest.Execute(context.WithoutCancel(f.t.Context()), append([]string{"fleet", "oci://" + f.host + "/receipts", "spokes/staging", "--plain-http"}, args...)...)
}

var seconds = regexp.MustCompile(` \d+s `)

// Each way in which a receipt can be wrong has its name, and nothing of what is not proved is shown.
func TestReceiptsThatAreWrongAreNamed(t *testing.T) {
	on := func(digest string) func(*receipt.Receipt) {
		return func(r *receipt.Receipt) { r.Kustomizations[0].Digest = digest }
	}
	unready := func(status metav1.ConditionStatus, message string) func(*receipt.Receipt) {
		return func(r *receipt.Receipt) {
			k := &r.Kustomizations[0]
			k.Ready, k.Reason, k.Message = status, "HealthCheckFailed", message
		}
	}
	tests := map[string]struct {
		publish      func(f *fleetOfReceipts, name string)
		problem, row string
	}{
		"fine": {nil, "-", "WANTED True"},
		"previous": {func(f *fleetOfReceipts, name string) {
			f.publish(name, f.sign(name, name, 0, on(digestOf("a"))))
		}, "behind", "sha256:aaaaaaaaaaaa True 0s runs a digest that Git has named before"},
		"stray": {func(f *fleetOfReceipts, name string) {
			f.publish(name, f.sign(name, name, 0, on(digestOf("c"))))
		}, "foreign", "sha256:cccccccccccc True 0s runs a digest that Git has not named for this stage"},
		"no-digest": {func(f *fleetOfReceipts, name string) {
			f.publish(name, f.sign(name, name, 0, on("")))
		}, "behind", "- True 0s nothing is applied yet"},
		"replayed": {func(f *fleetOfReceipts, name string) {
			f.publish(name, f.sign(name, name, 2*time.Hour, nil))
		}, "stale", "WANTED True 120m signed 2h0m"},
		"several": {func(f *fleetOfReceipts, name string) {
			f.publish(name, f.sign(name, name, 2*time.Hour, func(r *receipt.Receipt) {
				unready(metav1.ConditionFalse, "x")(r)
				on(digestOf("a"))(r)
			}))
		}, "unhealthy,stale,behind", "sha256:aaaaaaaaaaaa False"},
		"second-kustomization": {func(f *fleetOfReceipts, name string) {
			f.publish(name, f.sign(name, name, 0, func(r *receipt.Receipt) {
				r.Kustomizations = append([]receipt.Kustomization{applied(digestOf("a"))}, r.Kustomizations...)
			}))
		}, "behind", "sha256:aaaaaaaaaaaa True"},
		"not-applied-by-one": {func(f *fleetOfReceipts, name string) {
			f.publish(name, f.sign(name, name, 0, func(r *receipt.Receipt) {
				r.Kustomizations = append([]receipt.Kustomization{applied("")}, r.Kustomizations...)
			}))
		}, "behind", "- True 0s nothing is applied yet"},
		"failing": {func(f *fleetOfReceipts, name string) {
			f.publish(name, f.sign(name, name, 0, unready(metav1.ConditionFalse, "timeout")))
		}, "unhealthy", "WANTED False 0s flux-system/applications: HealthCheckFailed: timeout"},
		"reconciling": {func(f *fleetOfReceipts, name string) {
			f.publish(name, f.sign(name, name, 0, unready(metav1.ConditionUnknown, "running")))
		}, "unhealthy", "WANTED Unknown"},
		"other-kustomization": {func(f *fleetOfReceipts, name string) {
			f.publish(name, f.sign(name, name, 0, func(r *receipt.Receipt) { r.Kustomizations[0].Source = "team/applications" }))
		}, "unhealthy,behind", "- Unknown 0s no Kustomization applies the OCIRepository flux-system/applications"},
		"escapes": {func(f *fleetOfReceipts, name string) {
			f.publish(name, f.sign(name, name, 0, unready(metav1.ConditionFalse, "\x1b[2J\u202e\nfine  staging  -  ok "+strings.Repeat("x", 300))))
		}, "unhealthy", "flux-system/applications: HealthCheckFailed: [2J fine staging - ok xxx"},
		"absent": {func(*fleetOfReceipts, string) {}, "missing", "- - - the registry has no receipt"},
		"other-key": {func(f *fleetOfReceipts, name string) {
			f.publish(name, f.sign("fine", name, 0, nil))
		}, "forged", "- - - it is not signed with the key of the cluster"},
		"other-cluster": {func(f *fleetOfReceipts, name string) {
			f.publish(name, f.sign(name, "fine", 0, nil))
		}, "forged", `- - - it is a receipt of the cluster "fine"`},
		"tomorrow": {func(f *fleetOfReceipts, name string) {
			f.publish(name, f.sign(name, name, -time.Hour, nil))
		}, "forged", "- - - its time is in the future"},
		"edited": {func(f *fleetOfReceipts, name string) {
			f.publish(name, []byte(strings.Replace(string(f.sign(name, name, 0, nil)), `"payload":"ey`, `"payload":"fy`, 1)))
		}, "forged", "- - - it is not signed with the key of the cluster"},
		"unsigned": {func(f *fleetOfReceipts, name string) {
			f.publish(name, []byte(`{"payloadType": "application/vnd.winnow.receipt.v1+json", "payload": "e30=", "signatures": []}`))
		}, "forged", "- - - it is no receipt"},
		"thousands-of-signatures": {func(f *fleetOfReceipts, name string) {
			f.publish(name, []byte(`{"payloadType": "application/vnd.winnow.receipt.v1+json", "payload": "e30=", "signatures": [{}`+strings.Repeat(",{}", 300_000)+`]}`))
		}, "forged", "- - - it is no receipt"},
		"index": {func(f *fleetOfReceipts, name string) {
			f.Put("receipts/"+name, v1.MediaTypeImageIndex, []byte(`{"schemaVersion": 2, "manifests": []}`), "latest")
		}, "forged", "- - - it is no artifact of the type application/vnd.winnow.receipt.v1 with one layer"},
		"large-layer": {func(f *fleetOfReceipts, name string) {
			f.Push(f.t, "receipts/"+name, v1.Manifest{ArtifactType: receipt.ArtifactType, Layers: []v1.Descriptor{{MediaType: receipt.LayerType, Digest: v1.Descriptor(v1.DescriptorEmptyJSON).Digest, Size: 1 << 40}}})
		}, "forged", "- - - its layer has 1099511627776 bytes, more than 1048576"},
		"odd-digest": {func(f *fleetOfReceipts, name string) {
			f.Push(f.t, "receipts/"+name, v1.Manifest{ArtifactType: receipt.ArtifactType, Layers: []v1.Descriptor{{MediaType: receipt.LayerType, Digest: "sha256:../../etc", Size: 1}}})
		}, "forged", "- - - its layer is not of the type"},
		"replaced-layer": {func(f *fleetOfReceipts, name string) {
			envelope := f.sign(name, name, 0, nil)
			f.publish(name, envelope)
			f.SetBlob(registry.NewBlob("", envelope).Descriptor.Digest.String(), f.sign(name, name, time.Minute, nil))
		}, "forged", "- - - its layer cannot be fetched"},
		"large-manifest": {func(f *fleetOfReceipts, name string) {
			f.Put("receipts/"+name, v1.MediaTypeImageManifest, []byte(`{"layers": [`+strings.Repeat(`{},`, 200_000)+`{}]}`), "latest")
		}, "forged", "- - - its manifest has more than 100000 elements"},
	}
	var names []string
	for name := range tests {
		names = append(names, name)
	}
	schema := closedSchema(t, "Fleet")
	f := newFleetOfReceipts(t, names...)
	for name, test := range tests {
		if test.publish == nil {
			f.publish(name, f.sign(name, name, 0, nil))
			continue
		}
		test.publish(f, name)
	}
	got := f.fleet()
	if got.Code != root.ExitOK {
		t.Fatalf("exit code %d: %s", got.Code, got.Stderr)
	}
	if strings.ContainsAny(got.Stdout, "\x1b\u202e") || strings.Count(got.Stdout, "\n") != len(tests)+1 {
		t.Errorf("%q", got.Stdout)
	}
	lines := strings.Split(strings.TrimSpace(got.Stdout), "\n")
	if last := lines[len(lines)-1]; !strings.HasPrefix(last, "fine ") {
		t.Errorf("the problems are not first: %s", got.Stdout)
	}
	for name, test := range tests {
		found := false
		for _, line := range lines {
			fields := seconds.ReplaceAllString(strings.Join(strings.Fields(line), " "), " 0s ")
			if strings.HasPrefix(fields, name+" spokes/staging "+test.problem+" ") {
				found = strings.Contains(fields, strings.ReplaceAll(test.row, "WANTED", f.digest[:len("sha256:")+12]))
			}
		}
		if !found {
			t.Errorf("%s: no line with %s and %q in\n%s", name, test.problem, test.row, got.Stdout)
		}
	}
	for _, test := range []struct {
		failOn string
		want   string
	}{
		{"missing", "--fail-on missing: absent"},
		{"foreign,behind", "--fail-on foreign: stray; behind: "},
		{"any", "--fail-on any: "},
	} {
		if got := f.fleet("--fail-on", test.failOn); got.Code != root.ExitFindings || !strings.Contains(got.Stderr, test.want) {
			t.Errorf("--fail-on %s: %d %s", test.failOn, got.Code, got.Stderr)
		}
	}
	var document struct {
		Clusters []struct {
			Name     string
			Problems []any
			Receipt  *receipt.Receipt
		}
	}
	printed := []byte(f.fleet("-o", "json", "-q").Stdout)
	var untyped map[string]any
	if err := json.Unmarshal(printed, &untyped); err != nil {
		t.Fatal(err)
	}
	for _, violation := range validation.ValidateCustomResource(nil, untyped, schema) {
		t.Error(violation)
	}
	if err := json.Unmarshal(printed, &document); err != nil || len(document.Clusters) != len(tests) {
		t.Fatalf("%v: %+v", err, document)
	}
	for _, c := range document.Clusters {
		if c.Name == "fine" && (len(c.Problems) > 0 || c.Receipt.Definitions[0].Versions[0] != "1.0.0") {
			t.Errorf("%+v", c)
		}
	}
}

// One repository that hangs costs the time limit, and hides no other cluster. There are 16 requests at a time at most.
func TestARegistryThatHangs(t *testing.T) {
	var names []string
	for i := range 60 {
		names = append(names, fmt.Sprintf("c%02d", i))
	}
	f := newFleetOfReceipts(t, names...)
	for _, name := range names {
		f.publish(name, f.sign(name, name, 0, nil))
	}
	var running, most atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for now := running.Add(1); ; {
			if was := most.Load(); now <= was || most.CompareAndSwap(was, now) {
				break
			}
		}
		defer running.Add(-1)
		if strings.Contains(r.URL.Path, "/c07/") {
			<-r.Context().Done()
			return
		}
		f.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	f.host = strings.TrimPrefix(server.URL, "http://")
	got := f.fleet("--timeout", "3s", "--fail-on", "any")
	if got.Code != root.ExitFailed || !strings.HasPrefix(got.Stderr, "60 clusters, 59 without problems, 1 unreadable\nwinnow: the receipts of 1 cluster cannot be read: c07: ") {
		t.Errorf("exit code %d: %s", got.Code, got.Stderr)
	}
	if most.Load() > 16 {
		t.Errorf("%d requests at a time", most.Load())
	}
}

// Without the history, a digest that Git may have named is not called foreign; and without keys there is no cluster.
func TestFleetOfACloneWithoutHistory(t *testing.T) {
	f := newFleetOfReceipts(t, "berlin")
	f.publish("berlin", f.sign("berlin", "berlin", 0, func(r *receipt.Receipt) { r.Kustomizations[0].Digest = digestOf("a") }))
	origin, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	clone := filepath.Join(t.TempDir(), "clone")
	if out, err := exec.CommandContext(t.Context(), "git", "clone", "-q", "--depth=1", "file://"+origin, clone).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Chdir(clone)
	if got := f.fleet(); got.Code != root.ExitOK || !strings.Contains(got.Stdout, " behind ") || !strings.Contains(got.Stdout, "this clone is shallow") {
		t.Errorf("%+v", got)
	}
	shell(t, clone, "sed -i 's/digest: .*/tag: latest/' spokes/staging/applications.yaml && git -c user.name=x -c user.email=x@example.com commit -q -a -m 'Follow a tag'")
	if got := f.fleet("--fail-on", "behind"); got.Code != root.ExitOK || !strings.Contains(got.Stdout, "sha256:aaaaaaaaaaaa") {
		t.Errorf("a stage that follows a tag is never behind: %+v", got)
	}
	for _, args := range [][]string{
		{"fleet", "oci://" + f.host + "/receipts:latest", "spokes/staging"}, {"fleet", "oci://" + f.host + "/receipts", "spokes/production"},
		{"fleet", "oci://" + f.host + "/receipts", "spokes/staging", "--max-age", "0s"}, {"fleet", "oci://" + f.host + "/receipts", "spokes/staging", "--fail-on", "unreadable"},
	} {
		if got := clitest.Execute(t.Context(), args...); got.Code != root.ExitFailed || got.Stdout != "" || got.Stderr == "" {
			t.Errorf("%v: %+v", args, got)
		}
	}
}

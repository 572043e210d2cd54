// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package install_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	appsv1 "k8s.io/api/apps/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/test/stack"
)

// release is a release in a local registry, signed with a key of its own.
type release struct {
	s         *stack.Stack
	dir       string   // of its files
	variables []string // of make
	env       []string
	publicKey string
	commit    string
	created   time.Time
	image     string // by digest
}

// releaseVersion is the version in the commands of the guide.
const releaseVersion = "v0.1.0"

// TestAReleaseIsInstalled makes a release for this machine by the targets of make that a tag starts, verifies it, and
// installs from it by the commands of the guide: the archive, the chart, the manifests and the image.
func TestAReleaseIsInstalled(t *testing.T) {
	s, err := stack.Start(t.Context(), stack.Options{Registry: true, Progress: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	r := newRelease(t, s)
	u := newUser(t, r)
	t.Run("the archive has a binary with the version", func(t *testing.T) { u.checkArchive(t, r) })
	t.Run("the SBOMs name what is linked", func(t *testing.T) { r.checkSBOMs(t) })
	t.Run("the chart is installed, upgraded, rolled back and uninstalled", func(t *testing.T) { r.checkChart(t, u) })
	t.Run("install.yaml installs the image, which runs", func(t *testing.T) { r.checkImage(t, u) })
	t.Run("what was altered is refused", func(t *testing.T) { r.checkAltered(t) })
}

func newRelease(t *testing.T, s *stack.Stack) *release {
	t.Helper()
	cosign, err := stack.Cosign(t.Context(), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	// goreleaser packs files of the repository only.
	if err := os.MkdirAll(filepath.Join(root(t), "bin"), 0o750); err != nil {
		t.Fatal(err)
	}
	bin, err := os.MkdirTemp(filepath.Join(root(t), "bin"), "test-release-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(bin); err != nil {
			t.Error(err)
		}
	})
	r := &release{s: s, dir: filepath.Join(bin, "release"), env: []string{"COSIGN_PASSWORD="}}
	r.readCommit(t)
	r.publicKey = filepath.Join(bin, "test.pub")
	command(t, bin, r.env, cosign, "generate-key-pair", "--output-key-prefix", "test")
	r.variables = []string{
		"BIN=bin/" + filepath.Base(bin), "RELEASE_VERSION=" + releaseVersion, "RELEASE_REGISTRY=" + s.RegistryHost() + "/winnow-dev",
		"COSIGN_KEY=" + filepath.Join(bin, "test.key"), "COSIGN_PUBLIC_KEY=" + r.publicKey,
		// The same for all targets, whatever is committed meanwhile.
		"RELEASE_FLAGS=-single -plain-http -platforms linux/" + runtime.GOARCH + " -commit " + r.commit,
	}
	makeIn(t, root(t), r.env, append(r.variables, "release-binaries", "release-oci", "release-files", "release-verify")...)
	content, err := os.ReadFile(filepath.Join(r.dir, "images.txt"))
	if err != nil {
		t.Fatal(err)
	}
	references := strings.Fields(string(content))
	if len(references) != 3 { // the images, and the chart
		t.Fatalf("images.txt is %q", content)
	}
	r.image = references[0]
	return r
}

// readCommit reads what the release is made of.
func (r *release) readCommit(t *testing.T) {
	t.Helper()
	commit, seconds, _ := strings.Cut(strings.TrimSpace(command(t, root(t), nil, "git", "log", "-1", "--format=%H %ct")), " ")
	created, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	r.commit, r.created = commit, time.Unix(created, 0).UTC()
}

func (r *release) checkSBOMs(t *testing.T) {
	for _, file := range []string{"winnow-controller.spdx.json", "winnow.spdx.json", fmt.Sprintf("winnow_0.1.0_%s_%s.spdx.json", runtime.GOOS, runtime.GOARCH)} {
		content, err := os.ReadFile(filepath.Join(r.dir, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`"SPDX-2.3"`, `"k8s.io/client-go"`, `"pkg:golang/sigs.k8s.io/kustomize/api@`} {
			if !bytes.Contains(content, []byte(want)) {
				t.Errorf("%s has no %s", file, want)
			}
		}
	}
}

// checkChart installs the chart, upgrades it, rolls it back and uninstalls it, by the commands of the guides.
func (r *release) checkChart(t *testing.T, u *user) {
	u.run(t, "helm install winnow")
	r.assertDeployed(t, r.image)
	newer := r.pushNewerChart(t, u)
	u.run(t, "--reset-then-reuse-values\n", "X.Y.Z", "0.1.1")
	r.assertDeployed(t, newer)
	_, old, _ := strings.Cut(r.image, "@")
	u.run(t, "--set image.tag=,image.digest=", "X.Y.Z", "0.1.1", "sha256:...", old)
	r.assertDeployed(t, r.image)
	r.assertNewerDefinition(t, "a rollback")
	u.run(t, "helm uninstall winnow")
	if err := r.s.Client().Get(t.Context(), deploymentKey, &appsv1.Deployment{}); !apierrors.IsNotFound(err) {
		t.Errorf("after uninstalling, the Deployment is there: %v", err)
	}
	r.assertNewerDefinition(t, "uninstalling")
	u.run(t, "helm install winnow")
}

// newerField is a field of the definition of the newer chart.
const newerField = "ofTheNewerVersion"

// pushNewerChart pushes the chart as version 0.1.1, with another image, which it returns, and a field more in the definition.
func (r *release) pushNewerChart(t *testing.T, u *user) string {
	t.Helper()
	const digest = "sha256:7d865e959b2466918c9863afca942d0fb89d7c9ac0c99bafc3749504ded97730"
	repository, old, _ := strings.Cut(r.image, "@")
	charts := "oci://" + r.s.RegistryHost() + "/winnow-dev/charts"
	command(t, u.dir, u.env, "bash", "-euc", "helm pull "+charts+"/winnow --version 0.1.0 --plain-http --untar --untardir newer")
	replaceIn(t, filepath.Join(u.dir, "newer/winnow/values.yaml"), old, digest)
	const properties = "\n              suspend:\n"
	replaceIn(t, filepath.Join(u.dir, "newer/winnow/templates/crd.yaml"), properties, "\n              "+newerField+": {type: string}"+properties)
	command(t, u.dir, u.env, "bash", "-euc", "helm package newer/winnow --version 0.1.1 && helm push winnow-0.1.1.tgz "+charts+" --plain-http")
	return repository + "@" + digest
}

// replaceIn replaces what a file has exactly once.
func replaceIn(t *testing.T, file, old, replacement string) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if found := bytes.Count(content, []byte(old)); found != 1 {
		t.Fatalf("%s has %q %d times, want once", file, old, found)
	}
	if err := os.WriteFile(file, bytes.Replace(content, []byte(old), []byte(replacement), 1), 0o600); err != nil {
		t.Fatal(err)
	}
}

// assertDeployed checks the image of the Deployment, with or without its tag.
func (r *release) assertDeployed(t *testing.T, image string) {
	t.Helper()
	if got := strings.Replace(r.deployed(t), ":"+releaseVersion+"@", "@", 1); got != image {
		t.Errorf("the chart installs %s, want %s", got, image)
	}
}

// assertNewerDefinition checks that the definition of the newer chart is still there.
func (r *release) assertNewerDefinition(t *testing.T, after string) {
	t.Helper()
	definition := &apiextensionsv1.CustomResourceDefinition{}
	if err := r.s.Client().Get(t.Context(), client.ObjectKey{Name: "catalogselections.catalog.winnow.dev"}, definition); err != nil {
		t.Fatal(err)
	}
	if _, there := definition.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties[newerField]; !there {
		t.Errorf("after %s, the definition is an older one", after)
	}
}

var deploymentKey = client.ObjectKey{Namespace: stack.WinnowNamespace, Name: "winnow-controller"}

// deployed returns the image of the Deployment.
func (r *release) deployed(t *testing.T) string {
	t.Helper()
	deployment := &appsv1.Deployment{}
	if err := r.s.Client().Get(t.Context(), deploymentKey, deployment); err != nil {
		t.Fatal(err)
	}
	return deployment.Spec.Template.Spec.Containers[0].Image
}

// checkImage applies the manifests, and runs what a node would pull with the rights that they grant.
func (r *release) checkImage(t *testing.T, u *user) {
	// The API server takes the name that is no image; nodes do not.
	if err := r.s.ApplyKustomization(t.Context(), filepath.Join(root(t), "config", "default")); err != nil {
		t.Fatal(err)
	}
	u.run(t, "kubectl apply -f install.yaml")
	if err := r.s.ApplyPath(t.Context(), filepath.Join(u.dir, "install.yaml")); err != nil {
		t.Fatal(err)
	}
	ref, err := name.ParseReference(r.deployed(t))
	if err != nil {
		t.Fatal(err)
	}
	image, err := remote.Image(ref)
	if err != nil {
		t.Fatal(err)
	}
	checkConfig(t, image, r.created)
	dir := unpack(t, image)
	checkCertificates(t, filepath.Join(dir, "etc/ssl/certs/ca-certificates.crt"))
	if tagged, err := remote.Head(ref.Context().Tag(releaseVersion)); err != nil || tagged.Digest.String() != ref.Identifier() {
		t.Errorf("the tag is %v: %v", tagged, err)
	}
	if runtime.GOOS != "linux" {
		return
	}
	controller, err := r.s.StartController(t.Context(), stack.ControllerOptions{Binary: filepath.Join(dir, "ko-app/winnow-controller")})
	if err != nil {
		t.Fatal(err)
	}
	if err := controller.Stop(); err != nil {
		t.Error(err)
	}
}

// checkAltered alters each part of the release, which release-verify then refuses.
func (r *release) checkAltered(t *testing.T) {
	cosign, err := stack.Cosign(t.Context(), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	refused := func(what string, variables ...string) {
		t.Helper()
		args := append([]string{"make", "--no-print-directory", "-C", root(t), "release-verify"}, append(r.variables, variables...)...)
		if out, err := failing(t, args...); err == nil {
			t.Errorf("%s is verified: %s", what, out)
		}
	}
	for _, file := range []string{"install.yaml", "checksums.txt"} {
		path := filepath.Join(r.dir, file)
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, append(bytes.Clone(content), '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
		refused("a line more in " + file)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	other := t.TempDir()
	command(t, other, r.env, cosign, "generate-key-pair", "--output-key-prefix", "other")
	refused("a release of another key", "COSIGN_PUBLIC_KEY="+filepath.Join(other, "other.pub"))
}

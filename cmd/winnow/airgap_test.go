// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	corev1 "k8s.io/api/core/v1"
	"oras.land/oras-go/v2"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/test/clitest"
)

const (
	airGapGuide = "../../docs/guides/air-gap.md"
	outside     = "registry.example.com/catalogs/winnow-example"
	inside      = "registry.internal/catalogs/winnow-example"
)

var codeBlock = regexp.MustCompile("(?ms)^```(sh|console)\n(.*?)^```")

// The commands of the guide, in order, fill the mirrors with the artifacts that the cluster fetches. The
// stand-ins of helm, git and kubectl record their arguments.
func TestAirGapGuideFillsTheMirrors(t *testing.T) {
	for _, program := range []string{"sh", "jq", "sed", "sort", "tr"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("the guide needs %s: %v", program, err)
		}
	}
	hosts := startHosts(t)
	checksum := publishOutside(t)

	g := newGuide(t)
	clitest.WriteFile(t, filepath.Join(g.dir, "selection.yaml"), guideBlock(t, "kind: CatalogSelection"))
	for _, block := range codeBlock.FindAllStringSubmatch(clitest.ReadFile(t, airGapGuide), -1) {
		if strings.Contains(block[2], "--from-oci-layout") { // the disk arrives on the other side
			checkMirrors(t)
			g.checkCharts(t)
			mirrored(t, inside+":sha256-"+checksum+".sig", outside+":sha256-"+checksum+".sig")
			hosts.empty("registry.internal")
		}
		if block[1] == "sh" {
			g.run(t, block[2])
			continue
		}
		command, want, _ := strings.Cut(strings.TrimPrefix(block[2], "$ "), "\n")
		if got := g.run(t, command); got != want {
			t.Errorf("%s prints\n%s\nthe guide says\n%s", command, got, want)
		}
	}
	checkMirrors(t)
	g.checkCharts(t)
	const to = " oci://registry.internal/charts/argoproj/argo-helm\n"
	want := "helm pull argo-cd --repo https://argoproj.github.io/argo-helm --version 8.5.0 --destination charts/1\n" +
		"helm push charts/1/argo-cd-8.5.0.tgz" + to +
		"helm push media/charts/1/argo-cd-8.5.0.tgz" + to
	if got := clitest.ReadFile(t, g.log); !strings.HasSuffix(got, want) || strings.Count(got, "kubectl ") != 6 {
		t.Errorf("called were\n%s\nwant at the end\n%s", got, want)
	}
}

// checkMirrors checks that the mirrors contain the catalog with its signature, the chart and the image.
func checkMirrors(t *testing.T) {
	t.Helper()
	mirrored(t, inside+":v1.1.0", outside+":v1.1.0")
	mirrored(t, "registry.internal/hub/library/redis:7.4.5-alpine", "docker.io/library/redis:7.4.5-alpine")
	mirrored(t, "registry.internal/quay/argoproj/argocd:v3.1.5", "quay.io/argoproj/argocd:v3.1.5")
	mirrored(t, "registry.internal/quay/jetstack/cert-manager-controller:v1.18.2", "quay.io/jetstack/cert-manager-controller:v1.18.2")
	mirrored(t, "registry.internal/quay/jetstack/cert-manager-cainjector:v1.18.2", "quay.io/jetstack/cert-manager-cainjector:v1.18.2")
	mirrored(t, "registry.internal/quay/jetstack/charts/cert-manager:v1.18.2", "quay.io/jetstack/charts/cert-manager:v1.18.2")
	if signatures := referrers(t, inside+":v1.1.0"); len(signatures) != 1 {
		t.Errorf("the mirror has the signatures %v", signatures)
	}
}

func mirrored(t *testing.T, to, from string) {
	t.Helper()
	if got, want := resolved(t, to).Digest, resolved(t, from).Digest; got != want {
		t.Errorf("%s is %s, and %s is %s", to, got, from, want)
	}
}

// publishOutside pushes the artifacts of the outside hosts: the catalog with signatures of both kinds, a
// chart and an image. It returns the checksum of the catalog.
func publishOutside(t *testing.T) string {
	t.Helper()
	pushed := clitest.Execute(t.Context(), "push", "../../examples/catalog", "oci://"+os.Getenv("REGISTRY")+"/"+outside+":v1.1.0",
		"--plain-http", "--annotation", "a=b")
	if pushed.Code != root.ExitOK {
		t.Fatal(pushed.Stderr)
	}
	_, checksum, _ := strings.Cut(strings.TrimSpace(pushed.Stdout), "@sha256:")
	for _, reference := range []string{
		outside + ":sha256-" + checksum + ".sig", "docker.io/library/redis:7.4.5-alpine", "quay.io/argoproj/argocd:v3.1.5",
		"quay.io/jetstack/cert-manager-controller:v1.18.2", "quay.io/jetstack/cert-manager-cainjector:v1.18.2",
	} {
		publish(t, reference, nil)
	}
	packed, err := packHelmChart("cert-manager", "v1.18.2", "")
	if err == nil {
		err = pushHelmChart("quay.io/jetstack/charts/cert-manager:v1.18.2", packed)
	}
	if err != nil {
		t.Fatal(err)
	}
	subject := resolved(t, outside+":v1.1.0")
	publish(t, outside+":signature", &subject)
	return checksum
}

// publish pushes an empty artifact to the registry.
func publish(t *testing.T, reference string, subject *v1.Descriptor) {
	t.Helper()
	repository, tag, err := orasTarget(reference, false)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := oras.PackManifest(t.Context(), repository, oras.PackManifestVersion1_1, "application/vnd.example", oras.PackManifestOptions{
		Subject: subject, ManifestAnnotations: map[string]string{"of": reference},
	})
	if err == nil {
		err = repository.Tag(t.Context(), manifest, tag)
	}
	if err != nil {
		t.Fatalf("publishing %s: %v", reference, err)
	}
}

// resolved returns the descriptor of a reference in the registry, without annotations.
func resolved(t *testing.T, reference string) v1.Descriptor {
	t.Helper()
	repository, tag, err := orasTarget(reference, false)
	if err != nil {
		t.Fatal(err)
	}
	descriptor, err := repository.Resolve(t.Context(), tag)
	if err != nil {
		t.Fatalf("resolving %s: %v", reference, err)
	}
	return descriptor
}

// referrers returns the manifests that refer to another one.
func referrers(t *testing.T, reference string) []v1.Descriptor {
	t.Helper()
	repository, _, err := orasTarget(reference, false)
	if err != nil {
		t.Fatal(err)
	}
	found, err := repository.Predecessors(t.Context(), resolved(t, reference))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// guide runs the commands of a guide in a directory.
type guide struct {
	dir, log string
	environ  []string
}

// standIns maps programs that a guide calls to scripts. winnow uses the registry instead of all hosts.
var standIns = map[string]string{
	"winnow": `for arg; do
	shift
	case $arg in oci://*) arg=oci://$REGISTRY/${arg#oci://} ;; esac
	set -- "$@" "$arg"
done
exec "$WINNOW" "$@" --plain-http`,
	"git":     `echo "git $*" >> "$LOG"`,
	"kubectl": `echo "kubectl $*" >> "$LOG"`,
}

func newGuide(t *testing.T) guide {
	t.Helper()
	winnow, err := exec.LookPath("winnow") // TestMain puts it there
	if err != nil {
		t.Fatal(err)
	}
	g := guide{dir: t.TempDir(), log: filepath.Join(t.TempDir(), "log")}
	programs := t.TempDir()
	for name, script := range standIns {
		if err := os.WriteFile(filepath.Join(programs, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	g.environ = append(os.Environ(), "PATH="+programs+string(os.PathListSeparator)+os.Getenv("PATH"),
		"HTTP_PROXY=http://"+os.Getenv("REGISTRY"), "XDG_CACHE_HOME="+t.TempDir(), "WINNOW="+winnow, "LOG="+g.log, "PASSWORD=secret", "DOCKER_CONFIG="+t.TempDir(), "GORACE=atexit_sleep_ms=0")
	return g
}

// run returns the output of a command, which must not fail.
func (g guide) run(t *testing.T, command string) string {
	t.Helper()
	shell := exec.CommandContext(t.Context(), "sh", "-eu", "-c", command)
	shell.Dir, shell.Env = g.dir, g.environ
	out, err := shell.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
	return string(out)
}

// guideBlock returns the YAML block of the guide that contains a text.
func guideBlock(t *testing.T, text string) string {
	t.Helper()
	for _, block := range yamlBlock.FindAllStringSubmatch(clitest.ReadFile(t, airGapGuide), -1) {
		if strings.Contains(block[1], text) {
			return block[1]
		}
	}
	t.Fatalf("the guide has no block with %s", text)
	return ""
}

func TestAirGapGuideHasAValidSource(t *testing.T) {
	var repository sourcev1.OCIRepository
	if err := yaml.UnmarshalStrict([]byte(guideBlock(t, "kind: OCIRepository")), &repository); err != nil {
		t.Fatal(err)
	}
	kubectl := clitest.ReadFile(t, airGapGuide)
	spec := repository.Spec
	for _, secret := range []string{spec.SecretRef.Name, spec.CertSecretRef.Name, spec.ProxySecretRef.Name, spec.Verify.SecretRef.Name} {
		if !regexp.MustCompile(`create secret (generic|docker-registry) ` + secret + ` `).MatchString(kubectl) {
			t.Errorf("the guide does not create the secret %s", secret)
		}
	}
	if spec.URL != "oci://"+inside {
		t.Errorf("the source is %s, and the mirror %s", spec.URL, inside)
	}
}

// With Helm, test/install renders these values.
func TestAirGapGuideGivesTheControllerAProxyAndACA(t *testing.T) {
	var values struct {
		Image             struct{ Repository string }
		ExtraEnv          []corev1.EnvVar
		ExtraVolumes      []corev1.Volume
		ExtraVolumeMounts []corev1.VolumeMount
	}
	if err := yaml.UnmarshalStrict([]byte(guideBlock(t, "extraEnv:")), &values); err != nil {
		t.Fatal(err)
	}
	set := map[string]string{}
	for _, variable := range values.ExtraEnv {
		set[variable.Name] = variable.Value
	}
	if set["HTTPS_PROXY"] == "" || !strings.Contains(set["NO_PROXY"], ".cluster.local.,") || !strings.HasPrefix(values.Image.Repository, "registry.internal/") {
		t.Errorf("the values are %+v", values)
	}
	if len(values.ExtraVolumes) != 1 || len(values.ExtraVolumeMounts) != 1 || values.ExtraVolumes[0].Name != values.ExtraVolumeMounts[0].Name {
		t.Fatalf("the values are %+v", values)
	}
	// A mount at /etc/ssl/certs would hide the certificates of the image.
	if at := values.ExtraVolumeMounts[0].MountPath; path.Dir(set["SSL_CERT_FILE"]) != at || at == "/etc/ssl/certs" {
		t.Errorf("SSL_CERT_FILE is %s, and the volume at %s", set["SSL_CERT_FILE"], at)
	}
	if !strings.Contains(clitest.ReadFile(t, airGapGuide), "create configmap "+values.ExtraVolumes[0].ConfigMap.Name+" --from-file="+path.Base(set["SSL_CERT_FILE"])) {
		t.Error("the guide does not create the ConfigMap")
	}
}

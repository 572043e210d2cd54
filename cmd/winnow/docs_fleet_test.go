// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/receipt"
	"github.com/winnow-dev/winnow/render/approval"
	"github.com/winnow-dev/winnow/test/clitest"
	"github.com/winnow-dev/winnow/test/clitest/receipttest"
)

// The blocks of the guide are part of the example that the end-to-end tests apply, or match the API.
func TestFleetGuideShowsTheExample(t *testing.T) {
	shown := 0
	for _, block := range yamlBlock.FindAllStringSubmatch(clitest.ReadFile(t, "../../docs/guides/fleet.md"), -1) {
		switch {
		case strings.HasPrefix(block[1], "# losses/production/"): // of config/policies/spoke
			checkLines(t, block[1])
			continue
		case showsExample(t, "../../examples/fleet", block[1]):
			shown++
			continue
		case checkUses(t, parse(t, block[1])) > 0, strings.HasPrefix(block[1], "# .gitlab-ci.yml"):
			continue
		}
		var head metav1.TypeMeta
		if err := yaml.Unmarshal([]byte(block[1]), &head); err != nil {
			t.Fatal(err)
		}
		object := map[string]any{v1alpha1.CatalogSelectionKind: &v1alpha1.CatalogSelection{}, sourcev1.OCIRepositoryKind: &sourcev1.OCIRepository{}}[head.Kind]
		if object == nil {
			t.Fatalf("a block is neither of the example nor of a kind that is known:\n%s", block[1])
		}
		if err := yaml.UnmarshalStrict([]byte(block[1]), object); err != nil {
			t.Errorf("%v:\n%s", err, block[1])
		}
	}
	if shown < 4 {
		t.Errorf("the guide shows %d parts of the example", shown)
	}
}

// checkLines checks that what a ConfigMap approves are lines.
func checkLines(t *testing.T, manifest string) {
	t.Helper()
	var approvals corev1.ConfigMap
	if err := yaml.UnmarshalStrict([]byte(manifest), &approvals); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(approvals.Data["approve"]) {
		if _, err := approval.Parse(strings.TrimSpace(line)); err != nil {
			t.Error(err)
		}
	}
}

// gitIdentity lets the shell commit. The commits are two days old.
func gitIdentity(t *testing.T) {
	t.Helper()
	for _, program := range []string{"bash", "git"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	for name, value := range map[string]string{
		"GIT_CONFIG_NOSYSTEM": "1", "HOME": t.TempDir(), "GIT_COMMITTER_DATE": fmt.Sprintf("@%d +0000", time.Now().Add(-48*time.Hour).Unix()),
		"GIT_AUTHOR_NAME": "somebody", "GIT_AUTHOR_EMAIL": "somebody@example.com", "GIT_COMMITTER_NAME": "somebody", "GIT_COMMITTER_EMAIL": "somebody@example.com",
	} {
		t.Setenv(name, value)
	}
}

// fleetRepository returns a clone of a GitOps repository with the stages of the example.
func fleetRepository(t *testing.T, registry string) string {
	t.Helper()
	gitIdentity(t)
	dir := copyExample(t, "../../examples/fleet")
	if err := os.RemoveAll(filepath.Join(dir, "shards")); err != nil {
		t.Fatal(err)
	}
	for _, spoke := range []string{"staging", "production", "edge"} {
		file := filepath.Join(dir, "spokes", spoke, "applications.yaml")
		clitest.WriteFile(t, file, strings.Replace(clitest.ReadFile(t, file), "url: oci://registry.example.com/", "insecure: true\n  url: oci://"+registry+"/", 1))
	}
	clitest.Shell(t, dir, "git init -q -b main && git add . && git commit -q -m base")
	return dir
}

// editCatalog replaces a text in the definition of an application.
func editCatalog(t *testing.T, catalog, application, from, to string) {
	t.Helper()
	file := filepath.Join(catalog, "applications", application, "application.yaml")
	text := clitest.ReadFile(t, file)
	if !strings.Contains(text, from) {
		t.Fatalf("%s has no %q", file, from)
	}
	clitest.WriteFile(t, file, strings.Replace(text, from, to, 1))
}

// function matches the definition of a function of the shell.
var function = regexp.MustCompile(`(?ms)^\w+\(\) \{.*?^\}\n`)

// The commands of the guide run as they stand, without clusters, and print what it shows. The end-to-end tests run them with
// clusters.
func TestFleetGuideWalks(t *testing.T) {
	gitIdentity(t)
	registry, work := clitest.StartRegistry(t), t.TempDir()
	root, err := filepath.Abs("../..")
	if err == nil {
		err = os.Symlink(root, filepath.Join(work, "winnow"))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("REGISTRY", registry)
	_, guide, _ := strings.Cut(clitest.ReadFile(t, "../../docs/guides/fleet.md"), "## The walk\n")
	guide, _, _ = strings.Cut(guide, "## Promotion\n")
	dir, functions, pushes := work, "", 0
	var printed strings.Builder
	for _, block := range shBlock.FindAllStringSubmatch(guide, -1) {
		functions += strings.Join(function.FindAllString(block[1], -1), "")
		for i, commands := range strings.Split(function.ReplaceAllString(block[1], ""), "await_push\n") {
			if i > 0 { // the hub
				pushFleet(t, registry, filepath.Join(work, "catalog"))
				pushes++
			}
			printed.WriteString(clitest.Shell(t, dir, functions+commands))
		}
		dir = filepath.Join(work, "fleet")
	}
	if pushes != 4 {
		t.Errorf("the guide has %d releases", pushes)
	}
	text := regexp.MustCompile(`sha256:[0-9a-f]{64}`).ReplaceAllString(printed.String(), "sha256:...")
	text = strings.ReplaceAll(text, registry, "registry.example.com")
	shown := 0
	for _, block := range consoleBlock.FindAllStringSubmatch(guide, -1) {
		if strings.HasPrefix(block[1], "$ ") {
			continue
		}
		shown++
		for part := range strings.SplitSeq("\n"+strings.ReplaceAll(block[1], "sha256:...\n", "sha256:\x00\n"), "\n...\n") {
			assertPrinted(t, "\n"+strings.ReplaceAll(text, "\n\n", "\n"), strings.ReplaceAll(part, "\x00", "..."))
		}
	}
	if shown != 5 {
		t.Errorf("the guide shows %d outputs", shown)
	}
}

// The scheduled job of GitLab pushes a branch once, and leaves one with the digest to the reviewers.
func TestFleetGuideJobOfGitLab(t *testing.T) {
	registry := clitest.StartRegistry(t)
	dir, catalog := fleetRepository(t, registry), copyExample(t, "../../examples/catalog")
	script := guideJob(t, "fleet", "promote")
	job := "winnow() { command winnow \"$@\" --plain-http; }\n" + script[len(script)-1]
	bare := filepath.Join(t.TempDir(), "fleet")
	clitest.Shell(t, dir, "git init -q --bare "+bare+".git && git -C "+bare+".git config receive.advertisePushOptions true")
	for name, value := range map[string]string{"CI_PROJECT_URL": bare, "CI_DEFAULT_BRANCH": "main", "WINNOW_TOKEN": token} {
		t.Setenv(name, value)
	}
	pin := func(stage, digest string) {
		clitest.Shell(t, dir, "sed -i 's#digest: .*#digest: "+digest+"#' spokes/"+stage+"/applications.yaml && git commit -q -a -m pin")
	}
	branch := func() string {
		return clitest.Shell(t, dir, "git -C "+bare+".git for-each-ref --format='%(objectname) %(subject)'")
	}
	first := pushFleet(t, registry, catalog)
	pin("staging", first)
	pin("production", first)
	clitest.Shell(t, dir, job)
	if got := branch(); got != "" {
		t.Errorf("production has the digest, and there is %s", got)
	}
	editCatalog(t, catalog, "argocd", "replicas: 1", "replicas: 2")
	second := pushFleet(t, registry, catalog)
	pin("staging", second)
	for range 2 {
		if out := clitest.Shell(t, dir, job); strings.Contains(out, token) {
			t.Errorf("the token is printed: %s", out)
		}
		if got := branch(); !strings.HasSuffix(got, " Promote "+second+" to production\n") {
			t.Errorf("the branch is %q", got)
		}
		clitest.Shell(t, dir, "git reset -q --hard HEAD && git checkout -q -B main $(git log --format=%H --grep=pin -n 1)")
	}
	t.Setenv("GIT_COMMITTER_DATE", "")
	pin("staging", first)
	pin("production", second)
	before := branch()
	clitest.Shell(t, dir, job)
	if got := branch(); got != before {
		t.Errorf("staging has its digest since a moment, and the branch is %q", got)
	}
}

// The commands of the guide make a key and read the receipt that it has signed, and promote what runs.
func TestFleetGuideListsReceipts(t *testing.T) {
	f := &receipttest.Stage{T: t, Registry: clitest.NewRegistry(t, nil), Private: map[string]string{}}
	server := httptest.NewServer(f.Registry)
	t.Cleanup(server.Close)
	registry := strings.TrimPrefix(server.URL, "http://")
	f.Host = registry
	f.PushLoki("rendered/datacenter")
	dir := fleetRepository(t, registry)
	clitest.Shell(t, dir, "sed -i s/"+receipttest.DigestOf("0")+"/"+f.Digest+"/ spokes/*/applications.yaml && git commit -q -a -m pin")
	_, guide, _ := strings.Cut(clitest.ReadFile(t, "../../docs/guides/fleet.md"), "## Receipts\n")
	guide, _, _ = strings.Cut(guide, "\n## ")
	const standIns = "TOKEN=x; kubectl() { case $* in *apply*) cat >../secret.yaml;; esac; }; winnow() { case $2 in keygen) command winnow \"$@\";; *) command winnow \"$@\" --plain-http;; esac; }\n"
	var printed strings.Builder
	for _, block := range shBlock.FindAllStringSubmatch(guide, -1) {
		printed.WriteString(clitest.Shell(t, dir, standIns+strings.ReplaceAll(block[1], "oci://registry.example.com", "oci://"+registry)))
		if strings.HasPrefix(block[1], "mkdir") {
			var secret corev1.Secret
			if err := yaml.Unmarshal([]byte(clitest.ReadFile(t, filepath.Join(dir, "../secret.yaml"))), &secret); err != nil {
				t.Fatal(err)
			}
			f.Private["berlin"] = secret.StringData["receipt.pem"]
			f.Publish("berlin", f.Sign("berlin", "berlin", 12*time.Minute, func(r *receipt.Receipt) { r.Kustomizations[0].Origin = "v1.1.1@sha256:01" }))
		}
	}
	for _, block := range consoleBlock.FindAllStringSubmatch(guide, -1) {
		assertPrinted(t, strings.ReplaceAll(printed.String(), f.Digest[:19], receipttest.DigestOf("0")[:19]), block[1])
	}
}

// pushFleet renders the selection datacenter of examples/fleet over a catalog, and pushes it.
func pushFleet(t *testing.T, host, catalog string) string {
	t.Helper()
	archive := filepath.Join(t.TempDir(), "archive.tar.gz")
	if got := clitest.Execute(t.Context(), "render", "-f", "../../examples/fleet/hub/datacenter.yaml", "--source", catalog, "--archive", archive); got.Code != 0 {
		t.Fatalf("%+v", got)
	}
	content, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	digest, err := clitest.PushRendered(t.Context(), host, "rendered/datacenter", "latest", content)
	if err != nil {
		t.Fatal(err)
	}
	return digest
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/test/clitest"
)

// The script of the guide's job logs in and publishes: a commit of the main branch under its hash and as latest, and a
// tag under its name.
func TestGuideJobThatPublishesOnGitLab(t *testing.T) {
	for _, program := range []string{"bash", "base64", "date"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	var script string
	for _, block := range yamlBlock.FindAllStringSubmatch(clitest.ReadFile(t, "../../docs/guides/publishing.md"), -1) {
		if file, ok := parse(t, block[1]).(map[string]any); ok && file["publish"] != nil {
			lines := file["publish"].(map[string]any)["script"].([]any)
			script = lines[len(lines)-1].(string)
		}
	}
	stored := clitest.NewRegistry(t, nil)
	server := httptest.NewServer(stored)
	t.Cleanup(server.Close)
	registry := strings.TrimPrefix(server.URL, "http://")
	g := newGuide(t)
	if err := os.CopyFS(g.dir, os.DirFS("../../examples/catalog")); err != nil {
		t.Fatal(err)
	}
	run := func(password string, variables ...string) (string, error) {
		shell := exec.CommandContext(t.Context(), "bash", "-c", script)
		shell.Dir = g.dir
		// The registry here has no TLS: the stand-in of winnow adds a flag.
		shell.Env = append(g.environ, append(variables, "DOCKER_CONFIG=", "HOME="+t.TempDir(), "REGISTRY="+registry,
			"CI_REGISTRY="+registry, "CI_REGISTRY_IMAGE=private/of-gitlab", "CI_REGISTRY_USER=user", "CI_REGISTRY_PASSWORD="+password,
			"CI_COMMIT_SHA=0123", "CI_COMMIT_TIMESTAMP=2024-05-06T09:08:09+02:00", "CI_PROJECT_URL=https://gitlab.example.com/org/catalog")...)
		out, err := shell.CombinedOutput()
		return string(out), err
	}
	for _, test := range []struct{ name, tag, want, first string }{
		{"main", "", ", as main-0123, latest\n", "main-0123"},
		{"v1.0.0", "v1.0.0", ", as v1.0.0\n", "v1.0.0"},
	} {
		out, err := run("secret", "CI_COMMIT_REF_NAME="+test.name, "CI_COMMIT_TAG="+test.tag)
		if err != nil || !strings.Contains(out, test.want) || strings.Contains(out, "secret") {
			t.Errorf("%v: %s", err, out)
		}
		manifest := string(stored.Manifest("private/of-gitlab/manifests/" + test.first))
		for _, want := range []string{"2024-05-06T07:08:09Z", `"` + test.name + `@sha1:0123"`, "https://gitlab.example.com/org/catalog"} {
			if !strings.Contains(manifest, want) {
				t.Errorf("the manifest has no %s: %s", want, manifest)
			}
		}
	}
	if out, err := run("wrong", "CI_COMMIT_REF_NAME=main"); err == nil || !strings.Contains(out, "401 Unauthorized") {
		t.Errorf("%v: %s", err, out)
	}
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/winnow-dev/winnow/render/archive"
)

func TestMain(m *testing.M) {
	testscript.Main(program{m}, map[string]func(){"winnow": main, "oras": orasMain, "helm": helmMain})
}

// program builds the command winnow of the scripts without the race detector: a start of the test binary takes four
// times the CPU, and scripts start winnow a thousand times. Tests that call execute run under the race detector. With
// coverage, winnow stays the test binary, which counts the statements that scripts run.
type program struct{ *testing.M }

func (p program) Run() int {
	if testing.CoverMode() == "" {
		if err := buildPlain(); err != nil {
			fmt.Fprintln(os.Stderr, "building winnow for the scripts:", err)
			return 1
		}
	}
	return p.M.Run()
}

func buildPlain() error {
	path, err := exec.LookPath("winnow")
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil { // it may be a hard link to the test binary
		return err
	}
	out, err := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", path, ".").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// TestScripts runs the command line as users do. The scripts can use the commands below, and in
// their environment EXAMPLES, the directory of that name, REGISTRY, the address of a registry
// with the repositories of newRegistry, and CLUSTER, that of an API server with two selections.
func TestScripts(t *testing.T) {
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	registry := startRegistry(t)
	cluster := startCluster(t)
	testscript.RunT(secretive{t}, testscript.Params{
		Dir: "testdata/script",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "tarball": tarball, "half": half, "login": login, "manifest": manifest, "terminal": terminal, "rendered": rendered,
		},
		Setup: func(env *testscript.Env) error {
			env.Setenv("EXAMPLES", examples)
			env.Setenv("REGISTRY", registry)
			env.Setenv("CLUSTER", cluster)
			return setUpCredentials(env)
		},
	})
}

// startCluster returns the address of an API server with two selections.
func startCluster(t *testing.T) string {
	t.Helper()
	cluster := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, twoSelections)
	}))
	t.Cleanup(cluster.Close)
	return cluster.URL
}

// clusterConfig returns the kubeconfig of an API server with two selections.
func clusterConfig(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	writeFile(t, file, "clusters: [{name: c, cluster: {server: '"+startCluster(t)+"'}}]\ncontexts: [{name: c, context: {cluster: c}}]\ncurrent-context: c\n")
	return file
}

// twoSelections is the answer of an API server to every request.
const twoSelections = `{"apiVersion": "catalog.winnow.dev/v1alpha1", "kind": "CatalogSelectionList", "metadata": {"resourceVersion": "1"}, "items": [
{"apiVersion": "catalog.winnow.dev/v1alpha1", "kind": "CatalogSelection", "metadata": {"namespace": "flux-system", "name": "healthy"},
"status": {"sourceRevision": "v1.0.0", "instances": [
{"name": "db", "application": "postgres", "backend": "Helm", "object": "HelmRelease flux-system/db", "version": "1.0.0", "ready": "True", "message": "installed",
"lastAppliedRevision": "1.0.0", "pendingPlan": "plan", "outputs": {"secretName": "db", "available": ["host"]}},
{"name": "web", "application": "nginx", "backend": "Helm", "object": "HelmRelease flux-system/web", "ready": "False", "message": "Helm install failed for release web/web with chart nginx@2.0.0: no such host"}],
"conditions": [{"type": "Ready", "status": "True", "reason": "Succeeded", "message": "published"},
{"type": "SourceReady", "status": "True"}, {"type": "Held", "status": "False"}, {"type": "Applied", "status": "True"}]}},
{"apiVersion": "catalog.winnow.dev/v1alpha1", "kind": "CatalogSelection", "metadata": {"namespace": "flux-system", "name": "outage"},
"status": {"sourceRevision": "v1.0.0", "conditions": [{"type": "Ready", "status": "True", "reason": "Succeeded", "message": "published; a source fails, see SourceReady"},
{"type": "SourceReady", "status": "False", "reason": "FetchFailed", "message": "no such host"},
{"type": "Held", "status": "True", "reason": "Removal", "message": "loki: would be removed"}, {"type": "Applied", "status": "True"}]}}]}`

// exits CODE COMMAND... runs a command that must end with the exit code. One that fails must
// print an error on stderr, and nothing on stdout.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		ts.Fatalf("%v", err)
	}
	got := 0
	if exit != nil {
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
	if want == 0 {
		return
	}
	if out := ts.ReadFile("stdout"); out != "" {
		ts.Fatalf("stdout of a failure is not empty: %q", out)
	}
	if message := ts.ReadFile("stderr"); !strings.HasPrefix(message, "winnow: ") || strings.Contains(message, "goroutine") {
		ts.Fatalf("stderr has no plain message: %q", message)
	}
}

// tarball FILE DIR packs a directory as a tar.gz.
func tarball(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: tarball FILE DIR")
	}
	content, err := pack(ts.MkAbs(args[1]))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), content, 0o600))
}

// half FILE truncates a file to half of its size.
func half(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: half FILE")
	}
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), info.Size()/2))
}

// login USER PASSWORD writes Docker's configuration for the registry.
func login(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: login USER PASSWORD")
	}
	dir := ts.Getenv("DOCKER_CONFIG")
	ts.Check(os.MkdirAll(dir, 0o700))
	config := fmt.Sprintf(`{"auths": {%q: {"username": %q, "password": %q}}}`, ts.Getenv("REGISTRY"), args[0], args[1])
	ts.Check(os.WriteFile(filepath.Join(dir, "config.json"), []byte(config), 0o600))
}

// manifest REPOSITORY TAG prints the manifest of a tag in the registry.
func manifest(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: manifest REPOSITORY TAG")
	}
	response, err := http.Get(fmt.Sprintf("http://%s/v2/%s/manifests/%s", ts.Getenv("REGISTRY"), args[0], args[1]))
	ts.Check(err)
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	ts.Check(err)
	var out bytes.Buffer
	ts.Check(json.Indent(&out, content, "", "  "))
	_, err = fmt.Fprintln(ts.Stdout(), out.String())
	ts.Check(err)
}

func pack(dir string) ([]byte, error) {
	var out bytes.Buffer
	files, err := archive.ReadFS(context.Background(), os.DirFS(dir), archive.Limits{})
	if err != nil {
		return nil, err
	}
	err = archive.Write(&out, files)
	return out.Bytes(), err
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/test/clitest"
)

// gitLab serves the notes of a merge request. The first page contains those of other users.
type gitLab struct {
	requests []string
	note     string
}

func (g *gitLab) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	g.requests = append(g.requests, req.Method+" "+req.URL.RequestURI())
	type note struct {
		ID     int            `json:"id"`
		Author map[string]int `json:"author"`
		Body   string         `json:"body"`
	}
	switch {
	case req.Header.Get("PRIVATE-TOKEN") != token:
		reply(w, http.StatusUnauthorized, nil)
	case req.URL.Path == "/user":
		reply(w, http.StatusOK, map[string]int{"id": 3})
	case req.Method != http.MethodGet:
		var sent struct{ Body string }
		_ = json.NewDecoder(req.Body).Decode(&sent)
		g.note = sent.Body
		reply(w, http.StatusCreated, note{})
	case req.URL.Query().Get("page") == "1":
		forged := note{1, map[string]int{"id": 4}, "<!-- winnow diff -->"}
		reply(w, http.StatusOK, slices.Repeat([]note{forged}, 100))
	case g.note != "":
		reply(w, http.StatusOK, []note{{9, map[string]int{"id": 3}, g.note}})
	default:
		reply(w, http.StatusOK, []note{})
	}
}

// The script of the guide's job posts one note, updates it, and exits with the code of winnow.
func TestGuideJobOfGitLab(t *testing.T) {
	for _, program := range []string{"bash", "curl", "jq"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	lines := guideJob(t, "pull-requests", "winnow")
	script := lines[len(lines)-1]
	g := &gitLab{}
	server := httptest.NewServer(g)
	defer server.Close()
	dir := t.TempDir()
	clitest.WriteFile(t, filepath.Join(dir, "winnow"), "#!/bin/sh\necho '### held'\necho 'winnow: --fail-on held' >&2\nexit 1\n")
	if err := os.Chmod(filepath.Join(dir, "winnow"), 0o700); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		shell := exec.CommandContext(t.Context(), "bash", "-c", script)
		shell.Dir = dir
		shell.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "WINNOW_TOKEN="+token, "CI_API_V4_URL="+server.URL,
			"CI_PROJECT_ID=5", "CI_MERGE_REQUEST_IID=7", "CI_COMMIT_SHA=b", "CI_MERGE_REQUEST_DIFF_BASE_SHA=a")
		out, err := shell.CombinedOutput()
		if shell.ProcessState.ExitCode() != 1 || string(out) != "winnow: --fail-on held\n" {
			t.Fatalf("%v: %s", err, out)
		}
	}
	const notes = "/projects/5/merge_requests/7/notes"
	want := []string{
		"GET /user", "GET " + notes + "?per_page=100&page=1", "GET " + notes + "?per_page=100&page=2", "POST " + notes,
		"GET /user", "GET " + notes + "?per_page=100&page=1", "GET " + notes + "?per_page=100&page=2", "PUT " + notes + "/9",
	}
	if !slices.Equal(g.requests, want) {
		t.Errorf("requests: %s", strings.Join(g.requests, "\n"))
	}
	if want := "<!-- winnow diff -->\n### held\n\n**This fails the check:**\n\n    winnow: --fail-on held\n"; g.note != want {
		t.Errorf("the note is %q", g.note)
	}
}

// guideJob returns the script of a job of GitLab in a guide.
func guideJob(t *testing.T, guide, job string) (script []string) {
	t.Helper()
	for _, block := range yamlBlock.FindAllStringSubmatch(clitest.ReadFile(t, "../../docs/guides/"+guide+".md"), -1) {
		if file, ok := parse(t, block[1]).(map[string]any); ok && file[job] != nil {
			for _, line := range file[job].(map[string]any)["script"].([]any) {
				script = append(script, line.(string))
			}
		}
	}
	if len(script) == 0 {
		t.Fatalf("the guide %s has no job %s", guide, job)
	}
	return script
}

// The jobs of the guides run the archive of a release only if it has the digest that they name.
func TestGuideJobsInstallAReleaseByItsDigest(t *testing.T) {
	for _, program := range []string{"bash", "curl", "sha256sum", "tar"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	dir := t.TempDir()
	clitest.WriteFile(t, filepath.Join(dir, "winnow"), "#!/bin/sh\necho released\n")
	if err := os.Chmod(filepath.Join(dir, "winnow"), 0o700); err != nil {
		t.Fatal(err)
	}
	archive := filepath.Join(dir, "releases", "v0.1.0", "winnow_0.1.0_linux_amd64.tar.gz")
	if err := os.MkdirAll(filepath.Dir(archive), 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "tar", "-czf", archive, "-C", dir, "winnow").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(dir, "releases"))))
	defer server.Close()
	digest := fmt.Sprintf("%x", sha256.Sum256([]byte(clitest.ReadFile(t, archive))))
	for _, guide := range []struct{ name, job string }{{"pull-requests", "winnow"}, {"publishing", "publish"}, {"fleet", "promote"}} {
		for _, test := range []struct {
			what, version, sha256 string
			good                  bool
		}{
			{"the archive of the digest", "v0.1.0", digest, true},
			{"another archive", "v0.1.0", strings.Repeat("0", 64), false},
			{"a release that is missing", "v0.2.0", digest, false},
		} {
			t.Run(guide.name+", "+test.what, func(t *testing.T) {
				script := guideJob(t, guide.name, guide.job)
				install := script[slices.IndexFunc(script, func(line string) bool { return strings.Contains(line, "WINNOW_SHA256") })]
				shell := exec.CommandContext(t.Context(), "bash", "-c", install+"winnow")
				shell.Dir = t.TempDir()
				shell.Env = append(os.Environ(), "HOME="+t.TempDir(), "WINNOW_RELEASES="+server.URL, "WINNOW_VERSION="+test.version, "WINNOW_SHA256="+test.sha256)
				out, err := shell.CombinedOutput()
				if ran := strings.Contains(string(out), "released"); (err == nil) != test.good || ran != test.good {
					t.Errorf("%v: %s", err, out)
				}
			})
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
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
	var script string
	for _, block := range yamlBlock.FindAllStringSubmatch(readFileString(t, "../../docs/guides/pull-requests.md"), -1) {
		if file, ok := parse(t, block[1]).(map[string]any); ok && file["winnow"] != nil {
			lines := file["winnow"].(map[string]any)["script"].([]any)
			script = lines[len(lines)-1].(string)
		}
	}
	g := &gitLab{}
	server := httptest.NewServer(g)
	defer server.Close()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "winnow"), "#!/bin/sh\necho '### held'\necho 'winnow: --fail-on held' >&2\nexit 1\n")
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

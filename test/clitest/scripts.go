// SPDX-License-Identifier: Apache-2.0

package clitest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// Command is a command of scripts.
type Command = func(*testscript.TestScript, bool, []string)

// Commands returns the commands that scripts can use beside those of testscript. Those below say what they do.
func Commands() map[string]Command {
	return map[string]Command{
		"exits": exits, "tarball": tarball, "half": half, "login": login, "manifest": manifest, "terminal": terminal, "rendered": rendered,
	}
}

// RunScripts runs the scripts in testdata/script, which use the command line as users do. They have Commands, and in
// their environment EXAMPLES, the directory of that name, REGISTRY, the address of a registry with the repositories of
// NewRegistry, and CLUSTER, the address of an API server with two selections.
func RunScripts(t *testing.T) {
	t.Helper()
	registry, cluster := StartRegistry(t), startCluster(t)
	Run(t, testscript.Params{
		Dir:  "testdata/script",
		Cmds: Commands(),
		Setup: func(env *testscript.Env) error {
			env.Setenv("EXAMPLES", Path("examples"))
			env.Setenv("REGISTRY", registry)
			env.Setenv("CLUSTER", cluster)
			return setUpCredentials(env)
		},
	})
}

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
	content, err := Pack(ts.MkAbs(args[1]))
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

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/test/clitest"
)

const (
	actionsDir = "../../.github/actions"
	// token must not be in any output.
	token = "ghs_s3cretT0ken"
)

// TestActions runs the shell of the GitHub actions as a runner does, against a fake GitHub. The
// scripts can use clitest.Commands, and action, github and resolve.
func TestActions(t *testing.T) {
	for _, program := range []string{"bash", "curl", "git", "jq"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("the actions need %s: %v", program, err)
		}
	}
	registry := clitest.StartRegistry(t)
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	commands := clitest.Commands()
	maps.Copy(commands, map[string]clitest.Command{
		"action": runAction, "workflow": runWorkflow, "github": askGitHub, "resolve": resolve, "digest": sha256Of,
	})
	clitest.Run(t, testscript.Params{
		Dir:  "testdata/actions",
		Cmds: commands,
		Setup: func(env *testscript.Env) error {
			server := startGitHub()
			env.Defer(server.Close)
			releases := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(env.WorkDir, "releases"))))
			env.Defer(releases.Close)
			env.Values[gitHubKey{}] = server
			for name, value := range map[string]string{
				"GORACE":              "atexit_sleep_ms=0",
				"REGISTRY":            registry,
				"EXAMPLES":            examples,
				"DOCKER_CONFIG":       filepath.Join(env.WorkDir, "docker"),
				"GIT_CONFIG_NOSYSTEM": "1",
				"HOME":                env.WorkDir,
				"GITHUB_API_URL":      server.URL,
				"GITHUB_REPOSITORY":   "org/fleet",
				"GITHUB_ENV":          filepath.Join(env.WorkDir, "runner temp", "env"),
				"RELEASES":            releases.URL,
				"RUNNER_TEMP":         filepath.Join(env.WorkDir, "runner temp"),
				"GITHUB_OUTPUT":       filepath.Join(env.WorkDir, "runner temp", "output"),
				"GITHUB_STEP_SUMMARY": filepath.Join(env.WorkDir, "runner temp", "summary"),
				"OUTPUT":              filepath.Join(env.WorkDir, "runner temp", "output"),
				"SUMMARY":             filepath.Join(env.WorkDir, "runner temp", "summary"),
			} {
				env.Setenv(name, value)
			}
			return os.Mkdir(filepath.Join(env.WorkDir, "runner temp"), 0o700)
		},
	})
}

// actionFile has the fields of an action.yml that the tests use.
type actionFile struct {
	Name, Description string
	Inputs            map[string]struct {
		Description, Default string
		Required             bool
	}
	Outputs map[string]struct{ Description, Value string }
	Runs    struct {
		Using string
		Steps []actionStep
	}
}

type actionStep struct {
	ID, If, Uses, Shell, Run string
	Env, With                map[string]any
}

func readAction(name string) (actionFile, error) {
	var action actionFile
	content, err := os.ReadFile(filepath.Join(actionsDir, name, "action.yml"))
	if err != nil {
		return action, err
	}
	return action, yaml.UnmarshalStrict(content, &action)
}

var expression = regexp.MustCompile(`\$\{\{ ([\w.-]+) \}\}`)

// runAction implements: action NAME CODE [INPUT=VALUE]... It runs the last step of the action, or that with the id in the
// variable STEP, with the environment of action.yml. \n in a value is a line break. The event contains the values of the
// variables PULL, PULL_BASE and PULL_HEAD.
func runAction(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: action NAME CODE [INPUT=VALUE]...")
	}
	action, err := readAction(args[0])
	ts.Check(err)
	context := map[string]string{
		"github.token":                       token,
		"github.server_url":                  "https://github.com",
		"github.repository":                  ts.Getenv("GITHUB_REPOSITORY"),
		"github.ref_name":                    ts.Getenv("GITHUB_REF_NAME"),
		"github.sha":                         ts.Getenv("GITHUB_SHA"),
		"github.event.pull_request.number":   ts.Getenv("PULL"),
		"github.event.pull_request.base.sha": ts.Getenv("PULL_BASE"),
		"github.event.pull_request.head.sha": ts.Getenv("PULL_HEAD"),
	}
	evaluate := func(text string) string {
		return expression.ReplaceAllStringFunc(text, func(match string) string {
			value, ok := context[expression.FindStringSubmatch(match)[1]]
			if !ok {
				ts.Fatalf("unknown expression %s", match)
			}
			return value
		})
	}
	for name, input := range action.Inputs {
		context["inputs."+name] = evaluate(input.Default)
	}
	context["inputs.winnow"] = "winnow"
	for _, arg := range args[2:] {
		name, value, _ := strings.Cut(arg, "=")
		if _, ok := action.Inputs[name]; !ok {
			ts.Fatalf("the action has no input %s", name)
		}
		context["inputs."+name] = evaluate(strings.ReplaceAll(value, `\n`, "\n"))
	}
	step := action.Runs.Steps[len(action.Runs.Steps)-1]
	if id := ts.Getenv("STEP"); id != "" {
		step = action.Runs.Steps[slices.IndexFunc(action.Runs.Steps, func(s actionStep) bool { return s.ID == id })]
	}
	for name, value := range step.Env {
		ts.Setenv(name, evaluate(value.(string)))
	}
	runStep(ts, args[0], args[1], step.Run)
}

func runStep(ts *testscript.TestScript, name, code, command string) {
	path, err := filepath.Abs(filepath.Join(actionsDir, name))
	ts.Check(err)
	ts.Setenv("GITHUB_ACTION_PATH", path)
	for _, file := range []string{"GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"} {
		ts.Check(os.WriteFile(ts.Getenv(file), nil, 0o600))
	}
	err = ts.Exec("bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", command)
	got := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(got) != code {
		ts.Fatalf("exit code %d, want %s", got, code)
	}
	checkNoToken(ts)
}

// checkNoToken checks that no output of the action contains the token.
func checkNoToken(ts *testscript.TestScript) {
	if strings.Contains(ts.ReadFile("stdout")+ts.ReadFile("stderr"), token) {
		ts.Fatalf("the token is printed")
	}
	ts.Check(filepath.WalkDir(ts.Getenv("RUNNER_TEMP"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if bytes.Contains(content, []byte(token)) {
			ts.Fatalf("the token is in %s", path)
		}
		return err
	}))
}

// resolve VARIABLE REVISION sets a variable to the hash of a commit.
func resolve(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: resolve VARIABLE REVISION")
	}
	ts.Check(ts.Exec("git", "rev-parse", args[1]))
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
}

// digest VARIABLE FILE sets a variable to the SHA-256 digest of a file.
func sha256Of(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: digest VARIABLE FILE")
	}
	ts.Setenv(args[0], fmt.Sprintf("%x", sha256.Sum256([]byte(ts.ReadFile(args[1])))))
}

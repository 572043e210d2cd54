// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/test/clitest"
)

var actionNames = []string{"diff", "promote", "publish"}

// The inputs and outputs of the actions match their scripts, which contain no interpolation.
func TestActionsUseWhatTheyDeclare(t *testing.T) {
	for _, name := range actionNames {
		t.Run(name, func(t *testing.T) {
			action, err := readAction(name)
			if err != nil {
				t.Fatal(err)
			}
			text := clitest.ReadFile(t, filepath.Join(actionsDir, name, "action.yml"))
			scripts := clitest.ReadFile(t, filepath.Join(actionsDir, name, name+".sh")) +
				clitest.ReadFile(t, filepath.Join(actionsDir, "workflow.sh")) + clitest.ReadFile(t, filepath.Join(actionsDir, "comment.sh")) +
				clitest.ReadFile(t, filepath.Join(actionsDir, "download.sh"))
			for input, declared := range action.Inputs {
				if declared.Description == "" || !strings.Contains(text, "${{ inputs."+input+" }}") {
					t.Errorf("the input %s has no description, or is not used", input)
				}
			}
			for output, declared := range action.Outputs {
				if declared.Description == "" || !strings.Contains(scripts, "  output "+output+" ") {
					t.Errorf("the output %s has no description, or is not set", output)
				}
			}
			checkSteps(t, action, scripts)
		})
	}
}

var scriptCall = regexp.MustCompile(`^bash "\$GITHUB_ACTION_PATH/([\w./]+\.sh)"$`)

func checkSteps(t *testing.T, action actionFile, scripts string) {
	t.Helper()
	for _, step := range action.Runs.Steps {
		for name := range step.Env {
			if !strings.Contains(scripts, "$"+name) && !strings.Contains(scripts, "${"+name) {
				t.Errorf("the scripts do not use %s", name)
			}
		}
		if step.Uses != "" {
			continue
		}
		call := scriptCall.FindStringSubmatch(step.Run)
		if call == nil || step.Shell != "bash" {
			t.Errorf("%q runs more than a script of the action", step.Run)
			continue
		}
		// The directory of each action is next to that of the shared scripts.
		if _, err := os.Stat(filepath.Join(actionsDir, "diff", call[1])); err != nil && strings.HasPrefix(call[1], "../") {
			t.Error(err)
		}
	}
}

var (
	ownAction = regexp.MustCompile(`^winnow-dev/winnow/\.github/actions/([\w-]+)@\w+$`)
	jsonBlock = regexp.MustCompile("(?ms)^```json\n(.*?)^```")
)

// checkUses checks the steps of a workflow that use Winnow's actions, and returns their number.
func checkUses(t *testing.T, node any) int {
	t.Helper()
	found := 0
	switch node := node.(type) {
	case []any:
		for _, item := range node {
			found += checkUses(t, item)
		}
	case map[string]any:
		uses, _ := node["uses"].(string)
		if match := ownAction.FindStringSubmatch(uses); match != nil {
			found++
			action, err := readAction(match[1])
			if err != nil {
				t.Fatal(err)
			}
			with, _ := node["with"].(map[string]any)
			for input := range with {
				if _, ok := action.Inputs[input]; !ok {
					t.Errorf("%s has no input %s", uses, input)
				}
			}
		} else if strings.Contains(uses, "winnow") {
			t.Errorf("%s is no action of this repository", uses)
		}
		for _, item := range node {
			found += checkUses(t, item)
		}
	}
	return found
}

func parse(t *testing.T, text string) any {
	t.Helper()
	var content any
	if err := yaml.UnmarshalStrict([]byte(text), &content); err != nil {
		t.Fatal(err)
	}
	return content
}

// The template of a catalog repository has no findings, and its workflows use existing actions and inputs.
func TestCatalogRepository(t *testing.T) {
	const dir = "../../examples/catalog-repo"
	got := clitest.Execute(t.Context(), "lint", dir, "--fail-on", "warning", "-o", "json")
	if got.Code != root.ExitOK || got.Stderr != "0 errors, 0 warnings in 2 applications\n" {
		t.Errorf("lint: %+v", got)
	}
	for _, name := range []string{"lint", "publish", "publish-main"} {
		t.Run(name, func(t *testing.T) {
			text := clitest.ReadFile(t, filepath.Join(templateWorkflows, name+".yaml"))
			if checkUses(t, parse(t, text)) != 1 {
				t.Error("the workflow does not use the action")
			}
		})
	}
}

// The workflows of the guide are valid workflows, and its configuration is valid.
func TestPullRequestGuide(t *testing.T) {
	guide := clitest.ReadFile(t, "../../docs/guides/pull-requests.md")
	found, jobs := 0, 0
	for _, block := range yamlBlock.FindAllStringSubmatch(guide, -1) {
		content := parse(t, block[1])
		found += checkUses(t, content)
		if file, ok := content.(map[string]any); ok && file["winnow"] != nil {
			jobs++
			checkGitLabJob(t, file["winnow"].(map[string]any))
		}
	}
	if found != 2 || jobs != 1 {
		t.Errorf("the guide uses the actions %d times and has %d jobs of GitLab", found, jobs)
	}
	configurations := jsonBlock.FindAllStringSubmatch(guide, -1)
	for _, block := range configurations {
		var content map[string]any
		if err := json.Unmarshal([]byte(block[1]), &content); err != nil {
			t.Error(err)
		}
	}
	if len(configurations) != 1 {
		t.Errorf("the guide has %d configurations of Renovate", len(configurations))
	}
	checkTables(t, guide)
}

func checkGitLabJob(t *testing.T, job map[string]any) {
	t.Helper()
	for _, line := range job["script"].([]any) {
		if out, err := exec.CommandContext(t.Context(), "bash", "-n", "-c", line.(string)).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	}
}

// checkTables checks that the guide lists all inputs and outputs of the diff action.
func checkTables(t *testing.T, guide string) {
	t.Helper()
	action, err := readAction("diff")
	if err != nil {
		t.Fatal(err)
	}
	for input := range action.Inputs {
		if !regexp.MustCompile(`(?m)^\|[^|]*` + "`" + input + "`").MatchString(guide) {
			t.Errorf("the guide does not have the input %s", input)
		}
	}
	for output := range action.Outputs {
		if !regexp.MustCompile(`(?m)^\|[^|]*` + "`" + output + "`").MatchString(guide) {
			t.Errorf("the guide does not have the output %s", output)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// onGitHub are the commands of the workflow that cannot run elsewhere: docs/releasing.md lists them.
var onGitHub = []string{"gh release create ", "{ read -r controller && read -r winnow && read -r chart; } <bin/release/images.txt"}

// writes are the rights of the jobs besides reading.
var writes = map[string][]string{
	"check":    nil,
	"binaries": nil,
	"oci":      {"attestations", "id-token", "packages"},
	"draft":    {"attestations", "contents", "id-token"},
}

// What a tag starts can be tried before: its steps run targets of make. A job writes no more than it has to.
func TestTheReleaseWorkflowRunsTargetsOfMake(t *testing.T) {
	var workflow struct {
		Permissions map[string]string
		Jobs        map[string]struct {
			Permissions map[string]string
			Steps       []struct{ Run string }
		}
	}
	content, err := os.ReadFile("../../.github/workflows/release.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(content, &workflow); err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	if len(workflow.Permissions) != 1 || workflow.Permissions["contents"] != "read" {
		t.Errorf("the permissions of all jobs are %v", workflow.Permissions)
	}
	if got, want := slices.Sorted(maps.Keys(workflow.Jobs)), slices.Sorted(maps.Keys(writes)); !slices.Equal(got, want) {
		t.Errorf("the jobs are %v, want %v", got, want)
	}
	for name, job := range workflow.Jobs {
		var written []string
		for right, access := range job.Permissions {
			if access == "write" {
				written = append(written, right)
			}
		}
		slices.Sort(written)
		if !slices.Equal(written, writes[name]) {
			t.Errorf("the job %s writes %v, want %v", name, written, writes[name])
		}
		for _, step := range job.Steps {
			checkRun(t, step.Run, string(makefile))
		}
	}
}

func checkRun(t *testing.T, run, makefile string) {
	t.Helper()
	targets, isMake := strings.CutPrefix(run, "make ")
	if !isMake {
		known := run == "" || run == ".ci/run" || slices.ContainsFunc(onGitHub, func(start string) bool { return strings.HasPrefix(run, start) })
		if !known {
			t.Errorf("%q is no target of make", run)
		}
		return
	}
	for _, word := range strings.Fields(targets) {
		if strings.Contains(word, "=") {
			continue
		}
		if !regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(word) + `:`).MatchString(makefile) {
			t.Errorf("there is no target %s of make, which %q runs", word, run)
		}
	}
	// A name of a tag is no part of a script, but a variable of its shell.
	if strings.Contains(run, "${{") {
		t.Errorf("%q has an expression of GitHub", run)
	}
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"sigs.k8s.io/yaml"
)

const templateWorkflows = "../../examples/catalog-repo/.github/workflows"

// workflowFile has the fields of a workflow that runWorkflow uses.
type workflowFile struct {
	Jobs map[string]struct {
		Steps []struct {
			Uses string
			With map[string]string
		}
	}
}

// runWorkflow implements: workflow NAME CODE [INPUT=VALUE]... It runs the action of a workflow of the
// template with the inputs there, of which the arguments replace some.
func runWorkflow(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: workflow NAME CODE [INPUT=VALUE]...")
	}
	content, err := os.ReadFile(filepath.Join(templateWorkflows, args[0]+".yaml"))
	ts.Check(err)
	var workflow workflowFile
	ts.Check(yaml.Unmarshal(content, &workflow))
	for _, job := range workflow.Jobs {
		for _, step := range job.Steps {
			action := ownAction.FindStringSubmatch(step.Uses)
			if action == nil {
				continue
			}
			var inputs []string
			for name, value := range step.With {
				inputs = append(inputs, fmt.Sprintf("%s=%s", name, strings.ReplaceAll(value, "\n", `\n`)))
			}
			runAction(ts, false, slices.Concat([]string{action[1], args[1]}, inputs, args[2:]))
			return
		}
	}
	ts.Fatalf("the workflow uses no action of this repository")
}

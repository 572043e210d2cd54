// SPDX-License-Identifier: Apache-2.0

package patching_test

import (
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/fluxcd/pkg/apis/kustomize"

	"github.com/winnow-dev/winnow/render/patching"
)

// TestTheFirstPatchesAreReadAtTheSameTime reads patches in new processes, in which nothing has parsed the schema of kustomize yet.
// It needs the race detector.
func TestTheFirstPatchesAreReadAtTheSameTime(t *testing.T) {
	const variable = "WINNOW_TEST_FIRST_PATCHES"
	if os.Getenv(variable) == "" {
		for range 3 {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
			cmd.Env = append(os.Environ(), variable+"=1")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
		}
		return
	}
	files := definitions(t, 4)
	patches := []kustomize.Patch{{Patch: "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata: {name: a0}\n"}}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			patching.Touching(patches, "ApplicationDefinition", "a0")
			if _, err := patching.NewSplit(t.Context(), files, files.Paths(), patches); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

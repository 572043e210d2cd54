// SPDX-License-Identifier: Apache-2.0

//go:build node

package node_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/winnow-dev/winnow/test/stack"
)

// TestTheScriptOfTheWorkflow runs what the workflow kind runs once its cluster is there.
func TestTheScriptOfTheWorkflow(t *testing.T) {
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Skip("kubectl is missing")
	}
	install(t)
	root, err := stack.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "test/kind/check.sh", system.RegistryHost(), system.RegistryHost())
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "KUBECONFIG="+system.Kubeconfig(), "HOME="+filepath.Join(system.Dir(), "tmp"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// SPDX-License-Identifier: Apache-2.0

//go:build node

package node_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/winnow-dev/winnow/test/stack"
)

// TestTheChartAndThenTheManifests installs the chart by Helm, removes it, and installs the manifests of a release. What
// is applied stays the same.
func TestTheChartAndThenTheManifests(t *testing.T) {
	helm(t, "install", "winnow", "charts/winnow", "--set", "image.repository="+winnowImage, "--set", "image.tag="+imageTag, "--wait", "--timeout", "3m")
	startPipeline(t)
	before := awaitApplied(t, "of the test")
	helm(t, "uninstall", "winnow", "--wait")
	await(t, "the pod of the chart is gone", func(ctx context.Context) error {
		live, err := pods(ctx)
		if err == nil && len(live) > 0 {
			err = fmt.Errorf("%d pods", len(live))
		}
		return err
	})
	apply(t, "install.yaml")
	assertSame(t, before, awaitApplied(t, "of the test"))
}

func helm(t *testing.T, args ...string) {
	t.Helper()
	path, err := stack.Helm(t.Context(), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	root, err := stack.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, append(args, "--namespace", stack.WinnowNamespace)...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "KUBECONFIG="+system.Kubeconfig(), "HOME="+filepath.Join(system.Dir(), "tmp"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("helm %v: %v\n%s", args, err, out)
	}
}

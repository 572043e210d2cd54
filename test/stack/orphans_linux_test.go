// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

func TestKilledParentLeavesNoProcess(t *testing.T) {
	killParent(t, roleParent, t.TempDir())
}

// killParent kills a parent that prints the IDs of its children, and an empty line, when they run.
func killParent(t *testing.T, role, dir string) {
	t.Helper()
	parent := asChild(t, role, dir)
	parent.Stderr = t.Output()
	output, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	var children []int
	for scanner := bufio.NewScanner(output); scanner.Scan() && scanner.Text() != ""; {
		pid, err := strconv.Atoi(scanner.Text())
		if err != nil {
			t.Errorf("the parent says: %s", scanner.Text())
		}
		children = append(children, pid)
	}
	for _, child := range children {
		if !alive(child) {
			t.Errorf("process %d does not run", child)
		}
	}
	if err := parent.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = parent.Wait() // reports the kill
	if len(children) == 0 {
		t.Fatal("the parent has no children")
	}
	for _, child := range children {
		err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, 30*time.Second, true,
			func(context.Context) (bool, error) { return !alive(child), nil })
		if err != nil {
			t.Errorf("process %d is still there: %v", child, err)
		}
	}
}

// alive reports whether a process exists and is not a zombie, which has ended.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	// The state follows the name, which is in parentheses and may contain any character.
	_, state, _ := strings.Cut(string(stat[strings.LastIndexByte(string(stat), ')'):]), " ")
	return !strings.HasPrefix(state, "Z")
}

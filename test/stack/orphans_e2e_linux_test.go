// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package stack

import "testing"

func TestKilledParentLeavesNoServer(t *testing.T) {
	killParent(t, roleStack, t.TempDir())
}

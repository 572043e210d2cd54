// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"testing"

	"github.com/winnow-dev/winnow/test/stack"
)

// start starts a stack that ends with the test.
func start(t *testing.T, options stack.Options) *stack.Stack {
	t.Helper()
	options.Progress = t.Output()
	s, err := stack.Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/winnow-dev/winnow/test/stack"
)

// shared is the API server of all tests of the package, because a start takes seconds of CPU; nil until the first test needs
// it. Policies hold for the whole cluster: those of config/policies/spoke stay, and the others are removed.
var shared *stack.Stack

func TestMain(m *testing.M) {
	code := m.Run()
	if shared != nil {
		if err := shared.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// controlPlane returns the shared API server, with the definitions of KKP and Flux.
func controlPlane(t *testing.T) *stack.Stack {
	t.Helper()
	if shared != nil {
		return shared
	}
	s, err := stack.Start(t.Context(), stack.Options{Progress: os.Stderr, CRDs: []string{"test/stack/crds"}})
	if err != nil {
		t.Fatal(err)
	}
	shared = s
	return s
}

// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package clitest

import "github.com/rogpeppe/go-internal/testscript"

// terminal is known on Linux only.
func terminal(ts *testscript.TestScript, _ bool, _ []string) { ts.Fatalf("terminal needs Linux") }

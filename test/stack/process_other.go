// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package stack

import "syscall"

// childAttributes put a child into its own process group. Only Linux can also end it with this process.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

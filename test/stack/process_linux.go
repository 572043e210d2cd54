// SPDX-License-Identifier: Apache-2.0

package stack

import "syscall"

// childAttributes put a child into its own process group, so that Ctrl-C signals only this process and
// Stop can end the group. The kernel kills the child when this process ends, even by SIGKILL, and also when
// the *thread* that started the child ends, so that thread must be locked until the child has ended.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

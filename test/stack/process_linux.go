package stack

import "syscall"

// childAttributes put a child into its own process group, so that Ctrl-C reaches only us and Stop can end
// all of it, and make the kernel kill it when we die, even by SIGKILL. The kernel does that already when
// the *thread* that started the child ends, so that thread must be locked until the child has ended.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

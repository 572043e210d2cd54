// SPDX-License-Identifier: Apache-2.0

package clitest

import (
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// terminal is a command of scripts: it runs a command with a pseudo-terminal as its output, which it writes to the file
// "tty". The terminal is not that of a session, because the end of a session discards what nobody has read yet.
func terminal(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 {
		ts.Fatalf("usage: [!] terminal COMMAND...")
	}
	const end = "\x04end"
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	ts.Check(err)
	defer master.Close()
	ts.Check(unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	ts.Check(err)
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	ts.Check(err)
	defer slave.Close()

	read := make(chan string, 1)
	go func() {
		var all strings.Builder
		buffer := make([]byte, 1<<12)
		for !strings.Contains(all.String(), end) {
			n, err := master.Read(buffer)
			if err != nil {
				break
			}
			all.Write(buffer[:n])
		}
		read <- all.String()
	}()
	command := exec.Command(args[0], args[1:]...)
	command.Dir, command.Stdout, command.Stderr = ts.MkAbs("."), slave, slave
	for _, name := range []string{"HOME", "PATH", "WORK", "KUBECONFIG", "TERM", "COLUMNS", "NO_COLOR", "DOCKER_CONFIG"} {
		command.Env = append(command.Env, name+"="+ts.Getenv(name))
	}
	failed := command.Run()
	_, err = fmt.Fprint(slave, end)
	ts.Check(err)
	output, _, _ := strings.Cut(<-read, end)
	ts.Check(os.WriteFile(ts.MkAbs("tty"), []byte(strings.ReplaceAll(output, "\r\n", "\n")), 0o600))
	if (failed != nil) != neg {
		ts.Fatalf("%q: %v", args, failed)
	}
}

// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
)

// roleVariable selects a role in which the test binary runs as a process: a server, or a parent to kill.
const roleVariable = "STACK_TEST_ROLE"

// Roles. Those that run until they are killed print a line when they are ready.
const (
	roleServer   = "server"   // runs until SIGTERM
	roleStubborn = "stubborn" // ignores SIGTERM
	roleLostPort = "lostport" // ends like a server whose port is in use
	roleLocker   = "locker"   // locks the file that its argument names
	roleParent   = "parent"   // has a server as its child
	roleStack    = "stack"    // runs the whole system in the directory that its argument names
)

func TestMain(m *testing.M) {
	role, isRole := os.LookupEnv(roleVariable)
	if !isRole {
		os.Exit(m.Run())
	}
	if err := play(role); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func play(role string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	atWork := "at work"
	switch role {
	case roleStubborn:
		ctx = context.Background()
	case roleLostPort:
		return fmt.Errorf("listen tcp 127.0.0.1:1: bind: address already in use")
	case roleLocker:
		release, err := lockFile(ctx, os.Args[1], nil)
		if err != nil {
			return err
		}
		defer func() { _ = release() }()
	case roleParent:
		p, err := startProcess(asRole(os.Args[1], roleServer))
		if err != nil {
			return err
		}
		atWork = fmt.Sprintln(p.PID())
	case roleStack:
		s, err := Start(ctx, Options{
			Dir: os.Args[1], Progress: os.Stderr, Registry: true, SourceController: true, KustomizeController: true,
		})
		if err != nil {
			return err
		}
		atWork = ""
		for _, p := range s.processes {
			atWork += fmt.Sprintln(p.PID())
		}
	}
	fmt.Println(atWork)
	if done := ctx.Done(); done != nil {
		<-done
		return nil
	}
	select {}
}

// asRole returns a command that runs a role, with its log in dir.
func asRole(dir, role string) command {
	return command{
		name:    role,
		path:    os.Args[0],
		env:     append(os.Environ(), roleVariable+"="+role),
		dir:     dir,
		logPath: filepath.Join(dir, role+".log"),
	}
}

// asChild returns an exec.Cmd that runs a role, whose output the test reads.
func asChild(t *testing.T, role string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	return cmd
}

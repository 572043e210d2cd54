// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestProcessStops(t *testing.T) {
	tests := map[string]struct {
		role string
		end  func(*Process) error
	}{
		"by SIGTERM":                  {roleServer, (*Process).Stop},
		"by SIGKILL":                  {roleServer, (*Process).Kill},
		"by SIGKILL, though stubborn": {roleStubborn, (*Process).Kill},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := mustStart(t, test.role)
			if p.Err() != nil {
				t.Errorf("error while it runs: %v", p.Err())
			}
			if err := test.end(p); err != nil {
				t.Fatal(err)
			}
			select {
			case <-p.Exited():
			default:
				t.Error("Exited is not closed")
			}
			if err := test.end(p); err != nil {
				t.Errorf("ending it again: %v", err)
			}
		})
	}
}

func TestProcessThatDiesWhileItStartsShowsItsLog(t *testing.T) {
	p, err := startProcess(asRole(t.TempDir(), roleLostPort))
	if err != nil {
		t.Fatal(err)
	}
	err = p.awaitReady(t.Context(), func(context.Context) error { return errors.New("never") })
	if err == nil || !strings.Contains(err.Error(), "bind: address already in use") {
		t.Errorf("got %v", err)
	}
}

func TestProcessThatIsNeverReadySaysWhy(t *testing.T) {
	p := mustStart(t, roleServer)
	ctx, cancel := context.WithTimeout(t.Context(), 3*readyPoll)
	defer cancel()
	notYet := errors.New("not yet")
	err := p.awaitReady(ctx, func(context.Context) error { return notYet })
	if !errors.Is(err, notYet) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestLaunchPicksAnotherPortWhenOneIsLost(t *testing.T) {
	s := bareStack(t)
	attempts := 0
	p, err := s.launch(t.Context(), asRole(s.dir, roleServer), func() (launch, error) {
		attempts++
		role := roleServer
		if attempts == 1 {
			role = roleLostPort
		}
		return launch{env: []string{roleVariable + "=" + role}, ready: atWork(s, roleServer)}, nil
	})
	if err != nil || attempts != 2 {
		t.Fatalf("after %d attempts: %v", attempts, err)
	}
	if got := s.Process(roleServer); got != p {
		t.Errorf("Process returns %v, want the second attempt", got)
	}
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
	if s.Err() != nil {
		t.Errorf("a stop counts as failure: %v", s.Err())
	}
}

func TestLaunchGivesUpWhenTheNextPortIsLostToo(t *testing.T) {
	s := bareStack(t)
	attempts := 0
	_, err := s.launch(t.Context(), asRole(s.dir, roleServer), func() (launch, error) {
		attempts++
		return launch{env: []string{roleVariable + "=" + roleLostPort}, ready: atWork(s, roleServer)}, nil
	})
	if err == nil || attempts != 2 {
		t.Errorf("after %d attempts: %v", attempts, err)
	}
}

func TestStackReportsAServerThatDies(t *testing.T) {
	s := bareStack(t)
	p, err := s.launch(t.Context(), asRole(s.dir, roleServer), func() (launch, error) {
		return launch{env: []string{roleVariable + "=" + roleServer}, ready: atWork(s, roleServer)}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Process.Kill(); err != nil { // without Process.Kill, like an unexpected signal
		t.Fatal(err)
	}
	select {
	case <-s.Failed():
	case <-time.After(time.Minute):
		t.Fatal("nobody noticed")
	}
	if err := s.Err(); err == nil || !strings.Contains(err.Error(), "server ended unexpectedly (signal: killed)") {
		t.Errorf("got %v", err)
	}
}

func TestFreeAddressesDiffer(t *testing.T) {
	addresses, err := freeAddresses(5)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, address := range addresses {
		if seen[address] {
			t.Errorf("%s occurs twice", address)
		}
		seen[address] = true
	}
}

// bareStack has no servers.
func bareStack(t *testing.T) *Stack {
	t.Helper()
	s := &Stack{options: Options{Dir: t.TempDir()}, progress: newProgress(t.Output()), failed: make(chan struct{})}
	if err := s.makeDirs(); err != nil {
		t.Fatal(err)
	}
	return s
}

// mustStart starts a process, waits until it is ready, and ends it with the test.
func mustStart(t *testing.T, role string) *Process {
	t.Helper()
	s := bareStack(t)
	p, err := s.launch(t.Context(), asRole(s.dir, role), func() (launch, error) {
		return launch{env: []string{roleVariable + "=" + role}, ready: atWork(s, role)}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Kill(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// atWork returns a check that the process has printed a line.
func atWork(s *Stack, name string) func(context.Context) error {
	return func(context.Context) error {
		log, err := os.ReadFile(filepath.Join(s.dir, logDir, name+".log"))
		if err == nil && !strings.Contains(string(log), "at work") {
			err = errors.New("not at work")
		}
		return err
	}
}

// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// Bounds of the start and end of a process.
const (
	readyTimeout = 2 * time.Minute
	readyPoll    = 50 * time.Millisecond
	termTimeout  = 20 * time.Second // the controller waits 15 s for what runs
	killTimeout  = 5 * time.Second
)

// Process is a running server.
type Process struct {
	name    string
	logPath string
	cmd     *exec.Cmd
	command command
	ready   func(context.Context) error

	ending atomic.Bool   // Stop or Kill was called
	exited chan struct{} // closed when it has ended
	err    error         // result of the process; read only after exited is closed
}

// command configures a process.
type command struct {
	name    string
	path    string
	args    []string
	env     []string
	dir     string
	logPath string
	again   bool // the log goes on
	mayEnd  bool // its end is no failure of the stack
}

// startProcess starts a command. The process ends at the latest when this process ends.
func startProcess(c command) (*Process, error) {
	flags := os.O_CREATE | os.O_WRONLY | os.O_TRUNC
	if c.again {
		flags = os.O_CREATE | os.O_WRONLY | os.O_APPEND
	}
	log, err := os.OpenFile(c.logPath, flags, 0o600)
	if err != nil {
		return nil, fmt.Errorf("creating log: %w", err)
	}
	p := &Process{name: c.name, logPath: c.logPath, command: c, exited: make(chan struct{})}
	p.cmd = exec.Command(c.path, c.args...)
	p.cmd.Env, p.cmd.Dir = c.env, c.dir
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = childAttributes()

	started := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked; see childAttributes
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.err = p.cmd.Wait()
		}
		close(p.exited)
	}()
	err = errors.Join(<-started, log.Close())
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", c.name, err)
	}
	return p, nil
}

// Name is the name of the server.
func (p *Process) Name() string { return p.name }

// PID is the process ID, also after the end.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// LogPath returns the path of the output of the process.
func (p *Process) LogPath() string { return p.logPath }

// Logs returns the output of the process so far.
func (p *Process) Logs() ([]byte, error) { return os.ReadFile(p.logPath) }

// Exited is closed when the process has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Err returns the error of a process that has ended: nil while it runs and after exit code 0.
func (p *Process) Err() error {
	select {
	case <-p.exited:
		return p.err
	default:
		return nil
	}
}

// Stop sends SIGTERM, and SIGKILL after ten seconds. It returns an error if it had to kill, and does
// nothing if the process has already ended.
func (p *Process) Stop() error {
	p.ending.Store(true)
	p.signal(syscall.SIGTERM)
	if p.endsWithin(termTimeout) {
		return nil
	}
	return errors.Join(fmt.Errorf("stopping %s: still running after %s", p.name, termTimeout), p.Kill())
}

// Kill ends the process at once, as a crash of the machine would.
func (p *Process) Kill() error {
	p.ending.Store(true)
	p.signal(syscall.SIGKILL)
	if p.endsWithin(killTimeout) {
		return nil
	}
	return fmt.Errorf("killing %s: still running after %s", p.name, killTimeout)
}

// signal signals the whole process group. It ignores the error that the group has already ended.
func (p *Process) signal(sig syscall.Signal) {
	select {
	case <-p.exited:
	default:
		_ = syscall.Kill(-p.PID(), sig)
	}
}

func (p *Process) endsWithin(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-p.exited:
		return true
	case <-timer.C:
		return false
	}
}

// awaitReady polls until ready returns no error, or until the process ends.
func (p *Process) awaitReady(ctx context.Context, ready func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	var last error
	err := wait.PollUntilContextCancel(ctx, readyPoll, true, func(ctx context.Context) (bool, error) {
		select {
		case <-p.exited:
			return false, p.failure()
		default:
		}
		if err := ready(ctx); err != nil {
			if ctx.Err() == nil { // otherwise the error is only that of the timeout
				last = err
			}
			return false, nil
		}
		return true, nil
	})
	if wait.Interrupted(err) || errors.Is(err, context.Canceled) {
		err = fmt.Errorf("%w, last because of: %w\n%s", err, last, p.tail())
	}
	if err != nil {
		return fmt.Errorf("waiting until %s is ready: %w", p.name, err)
	}
	return nil
}

// failure returns the error of a process that has ended without Stop or Kill.
func (p *Process) failure() error {
	how := "exit status 0"
	if p.err != nil {
		how = p.err.Error()
	}
	return fmt.Errorf("%s ended unexpectedly (%s)\n%s", p.name, how, p.tail())
}

// tail returns the end of the log, below a line with its path.
func (p *Process) tail() string {
	text, err := p.Logs()
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("the end of %s:\n%s", p.logPath, lastLines(text, 20))
}

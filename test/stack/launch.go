// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
)

// launch configures one start of a server, with its ports.
type launch struct {
	args  []string
	env   []string
	ready func(context.Context) error
}

// startServer starts a server in its own directory under dir and returns when it is ready. If another
// process has taken the ports, it calls configure again, which selects other ports.
func (s *Stack) startServer(ctx context.Context, name string, configure func(dir string) (launch, error)) error {
	s.progress.step("starting %s", name)
	dir := filepath.Join(s.dir, name)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	_, err := s.launch(ctx, command{name: name, path: s.binaries[name], dir: dir}, func() (launch, error) {
		l, err := configure(dir)
		l.args = append(l.args, s.options.Args[name]...)
		return l, err
	})
	return err
}

// launch starts a process, waits until it is ready and starts watch for it.
func (s *Stack) launch(ctx context.Context, c command, configure func() (launch, error)) (*Process, error) {
	c.logPath = filepath.Join(s.dir, logDir, c.name+".log")
	for retry := true; ; retry = false {
		l, err := configure()
		if err != nil {
			return nil, fmt.Errorf("configuring %s: %w", c.name, err)
		}
		c.args, c.env = l.args, append(s.environment(), l.env...)
		p, err := startProcess(c)
		if err != nil {
			return nil, err
		}
		p.ready = l.ready
		s.mu.Lock()
		s.processes = append(s.processes, p)
		s.mu.Unlock()
		if err = s.await(ctx, p); err == nil {
			return p, nil
		}
		if log, logErr := p.Logs(); !retry || logErr != nil || !lostPort(log) {
			return nil, err
		}
		s.progress.note("its port was taken; trying another one")
		if err := p.Kill(); err != nil {
			return nil, err
		}
	}
}

// await waits until a process is ready and starts watch for it.
func (s *Stack) await(ctx context.Context, p *Process) error {
	if err := p.awaitReady(ctx, p.ready); err != nil {
		return err
	}
	go s.watch(p)
	return nil
}

// Revive starts a server or a controller that has ended once more, with the same flags, ports and data, and returns when
// it is ready.
func (s *Stack) Revive(ctx context.Context, name string) (*Process, error) {
	last := s.Process(name)
	if last == nil {
		return nil, fmt.Errorf("starting %s again: it was never started", name)
	}
	select {
	case <-last.Exited():
	default:
		return nil, fmt.Errorf("starting %s again: it still runs", name)
	}
	c := last.command
	c.again = true
	p, err := startProcess(c)
	if err != nil {
		return nil, err
	}
	p.ready = last.ready
	s.mu.Lock()
	s.processes[slices.Index(s.processes, last)] = p // Stop ends it after what needs it
	s.mu.Unlock()
	return p, s.await(ctx, p)
}

// watch reports a process that ends without Stop or Kill.
func (s *Stack) watch(p *Process) {
	<-p.Exited()
	if p.ending.Load() || p.command.mayEnd {
		return
	}
	s.failOnce.Do(func() {
		s.failure = p.failure()
		s.progress.print(s.failure.Error())
		close(s.failed)
	})
}

// environment returns an environment that is the same on every machine: it excludes the credentials and
// settings of the developer.
func (s *Stack) environment() []string {
	env := []string{
		"HOME=" + filepath.Join(s.dir, tmpDir),
		"TMPDIR=" + filepath.Join(s.dir, tmpDir),
		"OTEL_TRACES_EXPORTER=none", // the registry would connect to a collector on the network
	}
	// The Go runtime needs these for coverage, race reports and debugging.
	for _, name := range []string{"PATH", "GOCOVERDIR", "GORACE", "GODEBUG", "GOTRACEBACK"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// answers returns a check that all URLs answer with 200.
func answers(c *http.Client, urls ...string) func(context.Context) error {
	return func(ctx context.Context) error {
		for _, url := range urls {
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
			if err != nil {
				return err
			}
			response, err := c.Do(request)
			if err != nil {
				return err
			}
			if err := response.Body.Close(); err != nil {
				return err
			}
			if response.StatusCode != http.StatusOK {
				return fmt.Errorf("%s answers %s", url, response.Status)
			}
		}
		return nil
	}
}

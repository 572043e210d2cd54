// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Stack is a running system. Its methods may be called from several goroutines.
type Stack struct {
	root     string
	dir      string
	ownsDir  bool
	options  Options
	progress *progress
	binaries map[string]string
	fluxCRDs []string

	etcdURL      string
	registryHost string
	sourceHost   string
	kubeconfig   string
	restConfig   *rest.Config
	client       client.Client

	controllers controllers

	mu        sync.Mutex
	processes []*Process // in the order of their start

	failOnce sync.Once
	failed   chan struct{}
	failure  error

	stopOnce sync.Once
	stopErr  error
}

// Start builds missing servers, starts those of the options, and returns when all are ready. The context
// bounds only the start; end the system with Stop. On failure, Start calls Stop.
func Start(ctx context.Context, options Options) (*Stack, error) {
	started := time.Now()
	s := &Stack{options: options, progress: newProgress(options.Progress), failed: make(chan struct{})}
	if err := s.prepare(ctx); err != nil {
		return nil, fmt.Errorf("preparing the stack: %w", errors.Join(err, s.Stop()))
	}
	steps := []func(context.Context) error{
		s.startEtcd, s.startAPIServer, s.connect, s.furnish,
		s.startRegistry, s.startFlux,
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return nil, fmt.Errorf("starting the stack: %w", errors.Join(err, s.Stop()))
		}
	}
	s.progress.step("ready after %s", round(time.Since(started)))
	return s, nil
}

// prepare finds the binaries and creates the directories.
func (s *Stack) prepare(ctx context.Context) (err error) {
	if s.root, err = Root(ctx); err != nil {
		return err
	}
	b, err := newBuilder(s.root, s.progress)
	if err != nil {
		return err
	}
	if s.binaries, err = b.binaries(ctx, s.options.selected()); err != nil {
		return err
	}
	if s.fluxCRDs, err = b.fluxCRDs(ctx, s.options.fluxDefiners()...); err != nil {
		return err
	}
	return s.makeDirs()
}

func (s *Stack) makeDirs() (err error) {
	if s.options.Dir == "" {
		s.dir, err = os.MkdirTemp("", "winnow-stack-")
		s.ownsDir = err == nil
	} else {
		s.dir, err = filepath.Abs(s.options.Dir)
	}
	if err != nil {
		return err
	}
	for _, name := range []string{logDir, tmpDir} {
		if err := os.MkdirAll(filepath.Join(s.dir, name), 0o750); err != nil {
			return err
		}
	}
	return nil
}

// Directories in the directory of the stack.
const (
	logDir = "logs"
	tmpDir = "tmp"
)

// Stop ends all processes in reverse order, and removes the directory if Start created it. It may be
// called twice.
func (s *Stack) Stop() error {
	s.stopOnce.Do(func() {
		s.mu.Lock()
		processes := slices.Clone(s.processes)
		s.mu.Unlock()
		for _, p := range slices.Backward(processes) {
			s.stopErr = errors.Join(s.stopErr, p.Stop())
		}
		if s.ownsDir {
			s.stopErr = errors.Join(s.stopErr, os.RemoveAll(s.dir))
		}
	})
	return s.stopErr
}

// Failed is closed when a process ends without Stop or Kill; Err then returns the process and the reason.
func (s *Stack) Failed() <-chan struct{} { return s.failed }

// Err returns the reason why Failed is closed, and nil as long as it is open.
func (s *Stack) Err() error {
	select {
	case <-s.failed:
		return s.failure
	default:
		return nil
	}
}

// Dir is the directory with data, logs and kubeconfigs.
func (s *Stack) Dir() string { return s.dir }

// Kubeconfig is the path of a kubeconfig with all rights.
func (s *Stack) Kubeconfig() string { return s.kubeconfig }

// RESTConfig is a copy of the configuration with all rights.
func (s *Stack) RESTConfig() *rest.Config { return rest.CopyConfig(s.restConfig) }

// Client returns a client with all rights and without a cache.
func (s *Stack) Client() client.Client { return s.client }

// RegistryHost returns the HOST:PORT of the registry, which serves plain HTTP.
func (s *Stack) RegistryHost() string { return s.registryHost }

// SourceHost returns the HOST:PORT at which source-controller serves its artifacts.
func (s *Stack) SourceHost() string { return s.sourceHost }

// Process returns the last process that was started with this name, or nil.
func (s *Stack) Process(name string) *Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range slices.Backward(s.processes) {
		if p.name == name {
			return p
		}
	}
	return nil
}

// Log returns the output of the server with this name.
func (s *Stack) Log(name string) ([]byte, error) {
	p := s.Process(name)
	if p == nil {
		return nil, fmt.Errorf("reading the log of %s: not started", name)
	}
	return p.Logs()
}

// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/stack"
)

// system is the one system of all tests. Each test has a namespace and applications of its own.
var system *environment

// environment is a stack with Winnow, installed by config/default and running with the token of its
// ServiceAccount.
type environment struct {
	*stack.Stack
	root       string            // of the repository
	winnow     string            // path of the command line's binary
	binary     string            // path of the controller's
	controller *stack.Controller // running now
}

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	ctx := context.Background()
	e, err := start(ctx, nil, false)
	if e != nil && e.Stack != nil {
		defer func() {
			if err := e.Stop(); err != nil {
				fmt.Fprintln(os.Stderr, "e2e:", err)
			}
		}()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	system = e
	code := m.Run()
	if err := e.races(); err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		code = 1
	}
	if code != 0 {
		log, _ := e.controller.Logs()
		fmt.Fprintf(os.Stderr, "end of the controller's log:\n%s\n", log[max(0, len(log)-8192):])
	}
	return code
}

// start starts a system with the binaries of the shared one, if there is one. It has helm-controller if helm is true, and
// more arguments for kustomize-controller.
func start(ctx context.Context, shared *environment, helm bool, kustomizeController ...string) (*environment, error) {
	e := &environment{}
	var err error
	if e.root, err = stack.Root(ctx); err != nil {
		return nil, err
	}
	e.Stack, err = stack.Start(ctx, stack.Options{
		Progress: os.Stderr,
		Registry: true, SourceController: true, KustomizeController: true, HelmController: helm,
		CRDs: []string{"test/stack/crds"},
		// By default it retries the download of an unreachable artifact for minutes.
		Args: map[string][]string{
			stack.KustomizeController: append([]string{"--http-retry=1"}, kustomizeController...),
			// The retention of older artifacts must not depend on the speed of the tests.
			stack.SourceController: {"--artifact-retention-ttl=1h", "--artifact-retention-records=1000"},
		},
	})
	if err != nil {
		return nil, err
	}
	if err := v1alpha1.AddToScheme(e.Client().Scheme()); err != nil {
		return e, err
	}
	if err := e.ApplyKustomization(ctx, filepath.Join(e.root, "config/default")); err != nil {
		return e, fmt.Errorf("installing config/default: %w", err)
	}
	if shared != nil {
		e.winnow, e.binary = shared.winnow, shared.binary
	} else if err := e.build(ctx); err != nil {
		return e, err
	}
	return e, e.restart(ctx, stack.ControllerOptions{})
}

// build builds the controller and the command line.
func (e *environment) build(ctx context.Context) (err error) {
	if e.binary, err = e.BuildController(ctx, buildFlags...); err != nil {
		return err
	}
	e.winnow = filepath.Join(e.Dir(), "winnow")
	build := exec.CommandContext(ctx, "go", "build", "-o", e.winnow, "./cmd/winnow")
	build.Dir = e.root
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building winnow: %w\n%s", err, out)
	}
	return nil
}

// useOwnSystem replaces the system by a new one until the end of a test, with more arguments for
// kustomize-controller.
func useOwnSystem(t *testing.T, kustomizeController ...string) {
	t.Helper()
	use(t, false, kustomizeController...)
}

// useHelmSystem replaces the system by a new one with helm-controller until the end of a test.
func useHelmSystem(t *testing.T) {
	t.Helper()
	use(t, true)
}

func use(t *testing.T, helm bool, kustomizeController ...string) {
	t.Helper()
	shared := system
	own, err := start(context.WithoutCancel(t.Context()), shared, helm, kustomizeController...)
	t.Cleanup(func() {
		system = shared
		if own != nil && own.Stack != nil {
			if err := errors.Join(own.races(), own.Stop()); err != nil {
				t.Error(err)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	system = own
}

// races returns an error with the report if the race detector has found something in a controller, which it does not end.
func (e *environment) races() error {
	if e.controller == nil { // it did not start
		return nil
	}
	logs, err := filepath.Glob(filepath.Join(filepath.Dir(e.controller.LogPath()), stack.WinnowController+"*.log"))
	if err != nil {
		return err
	}
	for _, file := range logs {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if at := bytes.Index(content, []byte("WARNING: DATA RACE")); at >= 0 {
			return fmt.Errorf("%s:\n%s", filepath.Base(file), content[at:min(len(content), at+8192)])
		}
	}
	return nil
}

// buildFlags of the controllers: with the race detector where there is a C compiler, which it needs.
var buildFlags []string

// settleDelay is the minimum age of an edit that removes applications: the time that source-controller
// needs to observe the sources that were applied with it.
const settleDelay = "--settle-delay=2s"

// restart stops the controller and starts it again, with an empty data directory unless the
// options name one, and with the binary of the system unless they name another.
func (e *environment) restart(ctx context.Context, options stack.ControllerOptions) error {
	if e.controller != nil {
		if err := e.controller.Stop(); err != nil {
			return fmt.Errorf("stopping the controller: %w", err)
		}
	}
	if options.Binary == "" {
		options.Binary = e.binary
	}
	options.Args = append([]string{settleDelay}, options.Args...)
	var err error
	e.controller, err = e.StartController(ctx, options)
	return err
}

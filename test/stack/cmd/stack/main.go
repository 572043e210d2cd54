// SPDX-License-Identifier: Apache-2.0

// Command stack runs the local real system until it is interrupted: a Kubernetes API server, an OCI
// registry, the controllers of Flux, and Winnow with the rights of its own ServiceAccount.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/winnow-dev/winnow/test/stack"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if errors.Is(err, flag.ErrHelp) || err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "stack:", err)
	os.Exit(1)
}

// run starts the system, explains it on out and waits. It reports progress on narration.
func run(ctx context.Context, args []string, out, narration io.Writer) error {
	flags := flag.NewFlagSet("stack", flag.ContinueOnError)
	flags.SetOutput(narration)
	buildOnly := flags.Bool("build", false, "only build the servers that are missing, and exit")
	controlPlane := flags.Bool("control-plane", false, "with -build: only etcd, kube-apiserver and the registry, without Flux")
	cosign := flags.Bool("cosign", false, "with -build: also cosign, for the end-to-end tests")
	helm := flags.Bool("helm", false, "with -build: also helm-controller, for the end-to-end tests")
	release := flags.Bool("release", false, "with -build: also goreleaser and Helm, for the end-to-end tests of releases")
	opm := flags.Bool("opm", false, "only build opm, for the tests that compare file-based catalogs with it, and exit")
	helmCLI := flags.Bool("helm-cli", false, "only build Helm 3 and 4, for the tests that compare rendered charts with them, and exit")
	olm := flags.Bool("olm", false, "with -build: also opm, catalogd and operator-controller, for the end-to-end tests of OLM")
	node := flags.Bool("node", false, "with -build: also the kubelet, what schedules its pods, and Helm, for the tests on a node")
	dir := flags.String("dir", "", "keep data, logs and kubeconfigs in this directory (default: a temporary one)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	options := everything(*dir, narration)
	if *controlPlane {
		options.SourceController, options.KustomizeController = false, false
	}
	if *opm {
		_, err := stack.Opm(ctx, narration)
		return err
	}
	if *helmCLI {
		_, err := stack.Helm(ctx, narration)
		_, err3 := stack.Helm3(ctx, narration)
		return errors.Join(err, err3)
	}
	if *buildOnly {
		options.HelmController = *helm
		if err := stack.Build(ctx, narration, options); err != nil {
			return err
		}
		if *node {
			_, helmErr := stack.Helm(ctx, narration)
			if err := errors.Join(helmErr, stack.BuildNode(ctx, narration)); err != nil {
				return err
			}
		}
		return buildTools(ctx, narration, *cosign, *release, *olm)
	}
	s, err := stack.Start(ctx, everything(*dir, narration))
	if err != nil {
		return ifRunning(ctx, err)
	}
	err = serve(ctx, s, out)
	_, _ = fmt.Fprintln(narration, "==> stopping")
	return errors.Join(err, s.Stop())
}

// buildTools builds what the end-to-end tests need besides the servers.
func buildTools(ctx context.Context, narration io.Writer, cosign, release, olm bool) error {
	type tool = func(context.Context, io.Writer) (string, error)
	var tools []tool
	if cosign {
		tools = append(tools, stack.Cosign)
	}
	if release {
		tools = append(tools, stack.Helm, stack.Goreleaser)
	}
	if olm {
		tools = append(tools, stack.Opm)
	}
	for _, build := range tools {
		if _, err := build(ctx, narration); err != nil {
			return err
		}
	}
	if !olm {
		return nil
	}
	return stack.BuildOLM(ctx, narration)
}

// everything returns the options of the whole system, with the CRDs of a KKP cluster.
func everything(dir string, narration io.Writer) stack.Options {
	return stack.Options{
		Dir:                 dir,
		Progress:            narration,
		Registry:            true,
		SourceController:    true,
		KustomizeController: true,
		CRDs:                []string{"test/stack/crds"},
	}
}

// serve installs Winnow and a catalog and blocks until the interrupt, or until a server dies. It starts Winnow's controller again
// when that ends.
func serve(ctx context.Context, s *stack.Stack, out io.Writer) error {
	if err := furnish(ctx, s); err != nil {
		return ifRunning(ctx, err)
	}
	if err := explain(s, out); err != nil {
		return err
	}
	for {
		controller := s.Process(stack.WinnowController)
		select {
		case <-ctx.Done():
			return nil
		case <-s.Failed():
			return s.Err()
		case <-controller.Exited():
			if _, err := fmt.Fprintln(out, "==> Winnow's controller has ended, and is started again; its log is", controller.LogPath()); err != nil {
				return err
			}
			if _, err := s.Revive(ctx, stack.WinnowController); err != nil {
				return ifRunning(ctx, err)
			}
		}
	}
}

// furnish installs Winnow as users do, and pushes the example catalog.
func furnish(ctx context.Context, s *stack.Stack) error {
	if err := s.ApplyKustomization(ctx, "config/default"); err != nil {
		return err
	}
	if _, err := s.StartController(ctx, stack.ControllerOptions{MayEnd: true}); err != nil {
		return err
	}
	if _, err := s.PushCatalog(ctx, "examples/catalog", catalogName+":latest", stack.PushOptions{}); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.Dir(), tryFile), fmt.Appendf(nil, tryManifests, s.RegistryHost()), 0o600)
}

// ifRunning returns err, or nil after an interrupt, which causes errors of its own.
func ifRunning(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"
)

// fluxCRDs returns a directory with the CRDs of each of these controllers, in the versions that are built.
func (b *builder) fluxCRDs(ctx context.Context, controllers ...string) (dirs []string, err error) {
	for _, srv := range servers() {
		if !slices.Contains(controllers, srv.name) {
			continue
		}
		dir, err := b.serverCRDs(ctx, srv)
		if err != nil {
			return nil, fmt.Errorf("copying the CRDs of %s: %w", srv.name, err)
		}
		dirs = append(dirs, dir)
	}
	return dirs, nil
}

// InstallHelmCRDs installs the CRDs of helm-controller on a stack that was started without it.
func (s *Stack) InstallHelmCRDs(ctx context.Context) error {
	b, err := newBuilder(s.root, s.progress)
	if err != nil {
		return err
	}
	dirs, err := b.fluxCRDs(ctx, HelmController)
	if err != nil {
		return err
	}
	return s.ApplyPath(ctx, dirs[0])
}

// crdsSuffix follows the name of a controller in the name of the directory with its CRDs, beside its binary.
const crdsSuffix = "-crds"

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func (b *builder) serverCRDs(ctx context.Context, srv server) (string, error) {
	for _, dir := range b.existing {
		if crds := filepath.Join(dir, srv.name+crdsSuffix); isDirectory(crds) {
			return crds, nil
		}
	}
	cache, err := b.moduleCache(ctx, b.moduleOf(srv))
	if err != nil {
		return "", err
	}
	target := filepath.Join(cache, srv.name+crdsSuffix)
	if _, err := os.Stat(target); err == nil {
		return target, nil
	}
	err = b.locked(ctx, cache, func() error {
		if _, err := os.Stat(target); err == nil { // another process was faster
			return nil
		}
		return b.copyCRDs(ctx, srv, target)
	})
	return target, err
}

func (b *builder) copyCRDs(ctx context.Context, srv server, target string) error {
	temporary, err := os.MkdirTemp(filepath.Dir(target), temporaryPrefix)
	if err != nil {
		return err
	}
	// Unlike list, download also fetches a module that is not in the cache.
	moduleDir := filepath.Join(b.tools, b.moduleOf(srv))
	if _, err := goOutput(ctx, moduleDir, "mod", "download", srv.pkg); err != nil {
		return err
	}
	dir, err := goOutput(ctx, moduleDir, "list", "-m", "-f", "{{.Dir}}", srv.pkg)
	if err != nil {
		return err
	}
	if err := copyFiles(temporary, filepath.Join(dir, "config", "crd", "bases", "*.yaml")); err != nil {
		return err
	}
	return os.Rename(temporary, target)
}

func copyFiles(target, pattern string) error {
	paths, err := filepath.Glob(pattern)
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		return fmt.Errorf("no file matches %s", pattern)
	}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(target, filepath.Base(path)), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// startFlux starts the controllers in parallel, because each mostly waits.
func (s *Stack) startFlux(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	if s.options.SourceController {
		group.Go(func() error { return s.startServer(ctx, SourceController, s.sourceController) })
	}
	if s.options.KustomizeController {
		group.Go(func() error { return s.startServer(ctx, KustomizeController, s.kustomizeController) })
	}
	if s.options.HelmController {
		group.Go(func() error { return s.startServer(ctx, HelmController, s.helmController) })
	}
	return group.Wait()
}

func (s *Stack) sourceController(dir string) (launch, error) {
	health, err := freeAddress()
	if err != nil {
		return launch{}, err
	}
	storage, err := freeAddressOf(s.host())
	if err != nil {
		return launch{}, err
	}
	s.sourceHost = storage
	data := filepath.Join(dir, "data")
	return launch{
		env:   s.controllerEnvironment(s.kubeconfig, FluxNamespace),
		args:  append(fluxArgs(health), storageArgs(data, storage)...),
		ready: answers(http.DefaultClient, "http://"+health+"/readyz", "http://"+storage+"/"),
	}, os.MkdirAll(data, 0o750)
}

func (s *Stack) kustomizeController(string) (launch, error) {
	return s.applyController("--feature-gates=ExternalArtifact=true")
}

func (s *Stack) helmController(string) (launch, error) {
	// By default it waits ten minutes for a running action of Helm before it ends.
	return s.applyController("--watch-all-namespaces", "--graceful-shutdown-timeout=5s")
}

// applyController configures a controller of Flux that serves no artifacts.
func (s *Stack) applyController(args ...string) (launch, error) {
	health, err := freeAddress()
	if err != nil {
		return launch{}, err
	}
	return launch{
		env:   s.controllerEnvironment(s.kubeconfig, FluxNamespace),
		args:  append(fluxArgs(health), args...),
		ready: answers(http.DefaultClient, "http://"+health+"/readyz"),
	}, nil
}

// fluxArgs shorten the retries of the Flux controllers, so that a test does not wait for backoff.
func fluxArgs(health string) []string {
	return []string{
		"--health-addr=" + health,
		"--metrics-addr=0", // none
		"--events-addr=",   // none
		"--requeue-dependency=1s",
		"--min-retry-delay=200ms",
		"--max-retry-delay=2s",
		"--interval-jitter-percentage=0",
	}
}

// storageArgs configure a controller to serve its artifacts from data at address.
func storageArgs(data, address string) []string {
	return []string{
		"--storage-path=" + data,
		"--storage-addr=" + address,
		"--storage-adv-addr=" + address,
	}
}

// controllerEnvironment returns the environment that a pod gives to a controller of Flux or Winnow.
func (s *Stack) controllerEnvironment(kubeconfig, namespace string) []string {
	return []string{"KUBECONFIG=" + kubeconfig, "RUNTIME_NAMESPACE=" + namespace}
}

// KustomizeControllerBinary returns the path of kustomize-controller, for an image of it. Like Build, it builds a missing
// binary and reports progress on out.
func KustomizeControllerBinary(ctx context.Context, out io.Writer) (string, error) {
	for _, srv := range servers() {
		if srv.name == KustomizeController {
			return buildTool(ctx, out, srv)
		}
	}
	return "", fmt.Errorf("no server is %s", KustomizeController)
}

// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Environment variables that name a directory of existing binaries, in the layout of setup-envtest. The second one is
// that of envtest, which has etcd and kube-apiserver.
const (
	binDirVariable  = "STACK_BIN"
	assetsDirectory = "KUBEBUILDER_ASSETS"
)

// pinsVariable is the environment variable that chooses with which dependencies the servers are built: with those that
// each project pins if it is "upstream", else with those of serversModule.
const pinsVariable = "STACK_PINS"

// builder finds the binaries of the servers, and builds those that are missing.
type builder struct {
	tools    string   // directory of the pinned modules
	cache    string   // directory of binaries for all clones on this machine
	existing []string // directories of existing binaries
	upstream bool     // build each server of serversModule with the versions that its project pins
	progress *progress
}

// Build builds the missing binaries of the servers in the options, and reports progress on out. The
// first time takes several minutes; `go test` would hide that and might time out.
func Build(ctx context.Context, out io.Writer, options Options) error {
	b, err := toolBuilder(ctx, out)
	if err != nil {
		return err
	}
	if _, err := b.binaries(ctx, options.selected()); err != nil {
		return err
	}
	_, err = b.fluxCRDs(ctx, options.fluxDefiners()...)
	return err
}

func newBuilder(root string, p *progress) (*builder, error) {
	b := &builder{tools: filepath.Join(root, "test", "tools"), progress: p}
	switch pins := os.Getenv(pinsVariable); pins {
	case "":
	case "upstream":
		b.upstream = true
	default:
		return nil, fmt.Errorf("reading %s: %q is not upstream, the only value", pinsVariable, pins)
	}
	for _, variable := range []string{binDirVariable, assetsDirectory} {
		dir := os.Getenv(variable)
		if dir == "" {
			continue
		}
		dir = fromRoot(root, dir)
		if !isDirectory(dir) {
			return nil, fmt.Errorf("reading %s: %s is not a directory", variable, dir)
		}
		b.existing = append(b.existing, dir)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("locating the cache of server binaries: %w", err)
	}
	b.cache = filepath.Join(cache, "winnow")
	return b, nil
}

// toolBuilder returns a builder of this repository that reports progress on out.
func toolBuilder(ctx context.Context, out io.Writer) (*builder, error) {
	root, err := Root(ctx)
	if err != nil {
		return nil, err
	}
	return newBuilder(root, newProgress(out))
}

// buildTool returns the path of a binary. It builds a missing one and reports progress on out.
func buildTool(ctx context.Context, out io.Writer, tool server) (string, error) {
	b, err := toolBuilder(ctx, out)
	if err != nil {
		return "", err
	}
	return b.binary(ctx, tool)
}

// builtTool returns the path of a binary, or an empty string if it is not built.
func builtTool(ctx context.Context, tool server) (string, error) {
	b, err := toolBuilder(ctx, nil)
	if err != nil {
		return "", err
	}
	return b.find(ctx, tool)
}

// find returns the path of a server's binary, or an empty string if it is missing.
func (b *builder) find(ctx context.Context, srv server) (string, error) {
	for _, dir := range b.existing {
		if path := filepath.Join(dir, srv.name); executable(path) {
			b.progress.step("using %s", path)
			return path, nil
		}
	}
	dir, err := b.moduleCache(ctx, b.moduleOf(srv))
	if err != nil {
		return "", err
	}
	if path := filepath.Join(dir, srv.name); executable(path) {
		return path, nil
	}
	return "", nil
}

// moduleOf returns the directory under test/tools that pins a server.
func (b *builder) moduleOf(srv server) string {
	if b.upstream && srv.pins != "" {
		return srv.pins
	}
	return srv.module
}

// binary returns the path of a server's binary, and builds it if it is missing.
func (b *builder) binary(ctx context.Context, srv server) (string, error) {
	paths, err := b.binaries(ctx, []server{srv})
	return paths[srv.name], err
}

// temporaryPrefix is the prefix of the directories of builds, which remain if a build is killed.
const temporaryPrefix = ".building-"

// locked runs work while it holds the lock of dir.
func (b *builder) locked(ctx context.Context, dir string, work func() error) error {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	release, err := lockFile(ctx, filepath.Join(dir, ".lock"), func() {
		b.progress.stepWith("waiting for another process that builds in", dir)
	})
	if err != nil {
		return err
	}
	leftovers, err := filepath.Glob(filepath.Join(dir, temporaryPrefix+"*"))
	for _, leftover := range leftovers {
		err = errors.Join(err, os.RemoveAll(leftover))
	}
	if err == nil {
		err = work()
	}
	return errors.Join(err, release())
}

// moduleCache returns the directory for the binaries of a pinned module. Its name depends on all inputs
// of the binaries.
func (b *builder) moduleCache(ctx context.Context, module string) (string, error) {
	dir := filepath.Join(b.tools, module)
	goVersion, err := goOutput(ctx, dir, "env", "GOVERSION")
	if err != nil {
		return "", err
	}
	key, err := cacheKey(os.DirFS(dir), goVersion, runtime.GOOS, runtime.GOARCH)
	if err != nil {
		return "", fmt.Errorf("computing the cache key of test/tools/%s: %w", module, err)
	}
	return filepath.Join(b.cache, module+"-"+key), nil
}

// cacheKey is a short digest of a module's requirements and of the toolchain.
func cacheKey(module fs.FS, toolchain ...string) (string, error) {
	hash := sha256.New()
	for _, name := range []string{"go.mod", "go.sum"} {
		content, err := fs.ReadFile(module, name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(hash, "%s %d\n%s", name, len(content), content)
	}
	for _, part := range toolchain {
		fmt.Fprintf(hash, "%s\n", part)
	}
	return fmt.Sprintf("%x", hash.Sum(nil))[:12], nil
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// reportInterval is the interval at which a build reports how long it has taken.
const reportInterval = 30 * time.Second

// binaries returns the paths of the servers' binaries by name. It builds those that are missing, those of a module by
// one command, so that no core waits for a link.
func (b *builder) binaries(ctx context.Context, wanted []server) (map[string]string, error) {
	paths := map[string]string{}
	missing := map[string][]server{}
	for _, srv := range wanted {
		path, err := b.find(ctx, srv)
		if err != nil {
			return nil, err
		}
		if path == "" {
			module := b.moduleOf(srv)
			missing[module] = append(missing[module], srv)
		}
		paths[srv.name] = path
	}
	for _, module := range slices.Sorted(maps.Keys(missing)) {
		dir, err := b.buildMissing(ctx, module, missing[module])
		if err != nil {
			return nil, fmt.Errorf("building %s: %w", names(missing[module]), err)
		}
		for _, srv := range missing[module] {
			paths[srv.name] = filepath.Join(dir, srv.name)
		}
	}
	return paths, nil
}

// buildMissing builds servers of a module, unless another process does, and returns the directory of their binaries.
func (b *builder) buildMissing(ctx context.Context, module string, missing []server) (string, error) {
	dir, err := b.moduleCache(ctx, module)
	if err != nil {
		return "", err
	}
	return dir, b.locked(ctx, dir, func() error {
		missing := slices.DeleteFunc(slices.Clone(missing), func(srv server) bool { // another process was faster
			return executable(filepath.Join(dir, srv.name))
		})
		if len(missing) == 0 {
			return nil
		}
		return b.build(ctx, filepath.Join(b.tools, module), missing, dir)
	})
}

// build compiles servers of a module into a directory in dir and moves them from there, so that dir never contains a
// partial binary.
func (b *builder) build(ctx context.Context, module string, servers []server, dir string) error {
	b.progress.stepWith(fmt.Sprintf("building, only once: about %d min on 2 cores", minutes(servers)), names(servers), "into "+dir)
	started := time.Now()
	defer report(reportInterval, func(elapsed time.Duration) { b.progress.note("%s", progressOf(servers, elapsed)) })()

	temporary, err := os.MkdirTemp(dir, temporaryPrefix)
	if err != nil {
		return err
	}
	err = compile(ctx, module, servers, temporary)
	for _, srv := range servers {
		if err == nil {
			err = os.Rename(filepath.Join(temporary, executableOf(srv.pkg)), filepath.Join(dir, srv.name))
		}
	}
	if err := errors.Join(err, os.RemoveAll(temporary)); err != nil {
		return err
	}
	b.progress.note("built in %s", round(time.Since(started)))
	return nil
}

// compile runs go build with the flags of `make build`, so that it compiles nothing that was compiled for the product.
func compile(ctx context.Context, module string, servers []server, target string) error {
	ldflags := []string{"-s", "-w"}
	var packages []string
	for _, srv := range servers {
		version, err := goOutput(ctx, module, "list", "-m", "-f", "{{.Version}}", srv.versionOf)
		if err != nil {
			return err
		}
		for _, variable := range srv.versionVars {
			ldflags = append(ldflags, "-X", variable+"="+version)
		}
		packages = append(packages, srv.pkg)
	}
	args := []string{"build", "-o", target + string(filepath.Separator), "-tags", servers[0].tags, "-ldflags", strings.Join(ldflags, " ")}
	return goRun(ctx, module, []string{"CGO_ENABLED=0"}, append(args, packages...)...)
}

// versionElement matches the last element of the path of a main package that the go command leaves out of its name.
var versionElement = regexp.MustCompile(`^v[0-9]+$`)

// executableOf returns the name that the go command gives to the binary of a main package.
func executableOf(pkg string) string {
	if versionElement.MatchString(path.Base(pkg)) {
		pkg = path.Dir(pkg)
	}
	return path.Base(pkg)
}

func names(servers []server) string {
	var all []string
	for _, srv := range servers {
		all = append(all, srv.name)
	}
	return strings.Join(all, ", ")
}

func minutes(servers []server) (sum int) {
	for _, srv := range servers {
		sum += srv.minutes
	}
	return sum
}

// report calls note with the elapsed time at an interval until the returned function is called.
func report(interval time.Duration, note func(elapsed time.Duration)) (stop func()) {
	started, ticker, done := time.Now(), time.NewTicker(interval), make(chan struct{})
	go func() {
		for {
			select {
			case <-ticker.C:
				note(time.Since(started))
			case <-done:
				return
			}
		}
	}()
	return func() {
		ticker.Stop()
		close(done)
	}
}

// progressOf returns the line that says how far a build is.
func progressOf(servers []server, elapsed time.Duration) string {
	return fmt.Sprintf("%s of about %d min", elapsed.Round(time.Second), minutes(servers))
}

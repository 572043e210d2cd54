// SPDX-License-Identifier: Apache-2.0

// Command matrix runs the demo, and the end-to-end tests that tell, on other versions of the servers, and writes what passed
// into the table of docs/compatibility.md. It knows nothing of how the tests work.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "matrix:", err)
		os.Exit(1)
	}
}

// run runs the rows that the arguments name, or all, in the root of the repository.
func run(ctx context.Context) error {
	page := flag.String("page", "docs/compatibility.md", "the page with the table")
	dir := flag.String("dir", "bin/matrix", "directory for what is built")
	flag.Parse()
	absolute, err := filepath.Abs(*dir)
	if err != nil {
		return err
	}
	m := &matrix{dir: absolute}
	if err := m.build(ctx); err != nil {
		return err
	}
	var failed error
	for _, r := range rows() {
		if flag.NArg() > 0 && !slices.Contains(flag.Args(), r.name) {
			continue
		}
		fmt.Printf("==> %s\n", r.name)
		result, err := m.run(ctx, r)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", r.name, err))
			continue
		}
		if err := write(*page, result); err != nil {
			return err
		}
		fmt.Println(result.line())
	}
	return failed
}

// matrix runs rows with programs that are built once.
type matrix struct{ dir string }

// build builds the demo and the end-to-end tests.
func (m *matrix) build(ctx context.Context) error {
	const tags = "e2e,kustomize_disable_go_plugin_support"
	return errors.Join(
		command(ctx, ".", nil, "go", "build", "-o", filepath.Join(m.dir, "demo"), "./test/demo"),
		command(ctx, ".", nil, "go", "test", "-c", "-vet=off", "-tags", tags, "-o", filepath.Join(m.dir, "e2e.test"), "./test/e2e"),
	)
}

// run builds the servers of a row, and runs the demo and the tests with them.
func (m *matrix) run(ctx context.Context, r row) (result, error) {
	servers := filepath.Join(m.dir, r.name)
	if err := errors.Join(os.RemoveAll(servers), os.MkdirAll(servers, 0o750)); err != nil {
		return result{}, err
	}
	result := newResult(r.name)
	for _, name := range r.modules {
		version, err := buildServer(ctx, filepath.Join("test/tools/matrix", name), servers)
		if err != nil {
			return result, err
		}
		result.versions = append(result.versions, version)
	}
	if r.installed != "" {
		path, err := exec.LookPath(r.installed)
		if err != nil {
			return result, err
		}
		if err := os.Symlink(path, filepath.Join(servers, "registry")); err != nil {
			return result, err
		}
		out, err := exec.CommandContext(ctx, path, "--version").Output()
		if err != nil {
			return result, err
		}
		fields := strings.Fields(string(out)) // docker-registry github.com/docker/distribution 2.8.2+ds1
		result.versions = append(result.versions, "Distribution "+fields[len(fields)-1])
	}
	environment := []string{"STACK_BIN=" + servers}
	if err := command(ctx, ".", environment, filepath.Join(m.dir, "demo")); err != nil {
		result.fails("the demo")
	} else {
		result.passed = append(result.passed, "the demo")
	}
	result.read(runTests(ctx, environment, filepath.Join(m.dir, "e2e.test")))
	return result, ctx.Err()
}

// buildServer builds the one tool of a module into dir, beside its CustomResourceDefinitions, and returns its name and
// version.
func buildServer(ctx context.Context, module, dir string) (string, error) {
	toolchain, err := output(ctx, module, "go", "mod", "edit", "-json")
	if err != nil {
		return "", err
	}
	environment, err := goOf(toolchain)
	if err != nil {
		return "", err
	}
	list := exec.CommandContext(ctx, "go", "list", "-f", "{{.ImportPath}} {{.Module.Dir}} {{.Module.Version}}", "tool")
	list.Dir, list.Env, list.Stderr = module, append(os.Environ(), environment...), os.Stderr
	listed, err := list.Output()
	if err != nil {
		return "", err
	}
	fields := strings.Fields(string(listed))
	pkg, source, version := fields[0], fields[1], fields[2]
	name := filepath.Base(pkg)
	flags := "-s -w -X k8s.io/component-base/version.gitVersion=" + version
	if err := command(ctx, module, environment, "go", "build", "-ldflags", flags, "-o", filepath.Join(dir, name), pkg); err != nil {
		return "", err
	}
	definitions := os.DirFS(filepath.Join(source, "config", "crd", "bases"))
	if _, err := fs.Stat(definitions, "."); err == nil {
		if err := os.CopyFS(filepath.Join(dir, name+"-crds"), definitions); err != nil {
			return "", err
		}
	}
	return name + " " + strings.TrimPrefix(version, "v"), nil
}

func command(ctx context.Context, dir string, environment []string, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), environment...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("running %s: %w", name, err)
	}
	return nil
}

func output(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	return cmd.Output()
}

// runTests returns what the tests print. That one fails is part of it.
func runTests(ctx context.Context, environment []string, program string) string {
	var out strings.Builder
	cmd := exec.CommandContext(ctx, program, "-test.v", "-test.timeout", "40m", "-test.run", tests)
	cmd.Dir, cmd.Env = filepath.Join("test", "e2e"), append(os.Environ(), environment...)
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	_ = cmd.Run()
	return out.String()
}

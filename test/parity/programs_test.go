// SPDX-License-Identifier: Apache-2.0

package parity

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/winnow-dev/winnow/test/farm"
)

// programs are an old and a new winnow, which run in a directory one after the other.
type programs struct {
	t        *testing.T
	old, new string
	dir      string
	env      []string
	// input says which input the directory has.
	input string
	// counts has how often an exit code, or an effect in a report, was compared.
	counts map[string]int
}

// newPrograms returns the programs in an empty directory. They reach nothing but the registry at an address.
func newPrograms(t *testing.T, registry string) *programs {
	t.Helper()
	home := t.TempDir()
	return &programs{t: t, old: *oldProgram, new: *newProgram, dir: t.TempDir(), counts: map[string]int{}, env: append(os.Environ(),
		"HTTP_PROXY=http://"+registry, "HTTPS_PROXY=http://127.0.0.1:1", "NO_PROXY=", "http_proxy=", "https_proxy=", "no_proxy=", "HOME="+home, "XDG_CACHE_HOME="+home,
		"XDG_CONFIG_HOME="+home, "DOCKER_CONFIG="+home, "KUBECONFIG="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "COLUMNS=",
		"GOGC=off", "GOMEMLIMIT=400MiB")} // a quarter less time of the processor
}

func (p *programs) git(stdin string, args ...string) {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), "git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = p.dir, p.env, strings.NewReader(stdin)
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Fatalf("git %s: %v: %s", args[0], err, out)
	}
}

// compare fails if the programs print or write something else, and returns the old result. A command is written with spaces.
func (p *programs) compare(format string, args ...any) map[string]string {
	p.t.Helper()
	command := fmt.Sprintf(format, args...)
	before := read(p.t, p.dir)
	want := p.run(p.old, command)
	p.counts["exit code "+want["/exit code"]]++
	p.restore(before)
	got := p.run(p.new, command)
	p.restore(before)
	if maps.Equal(want, got) {
		return want
	}
	text, all := fmt.Sprintf("%s\n  winnow %s\n", p.input, command), maps.Clone(want)
	maps.Copy(all, got)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		text += firstDifference(name, want[name], got[name])
	}
	p.t.Error(text)
	return want
}

// run returns the files of the directory after a command, as read does, and the output with names that no file has.
func (p *programs) run(program, command string) map[string]string {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), time.Minute)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, program, strings.Fields(command)...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = p.dir, p.env, &stdout, &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		p.t.Fatalf("%s\n  winnow %s: %v, %v", p.input, command, err, ctx.Err())
	}
	result := read(p.t, p.dir)
	result["/stdout"], result["/stderr"], result["/exit code"] = stdout.String(), stderr.String(), fmt.Sprint(cmd.ProcessState.ExitCode())
	return result
}

// restore gives the directory the files of an earlier read.
func (p *programs) restore(before map[string]string) {
	p.t.Helper()
	if maps.Equal(before, read(p.t, p.dir)) {
		return
	}
	for name := range read(p.t, p.dir) {
		top, _, _ := strings.Cut(name, "/")
		if err := os.RemoveAll(filepath.Join(p.dir, top)); err != nil {
			p.t.Fatal(err)
		}
	}
	write(p.t, p.dir, before)
}

// read returns the contents of the files below a directory by their paths, without .git.
func read(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, root := map[string]string{}, os.DirFS(dir)
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case name == ".git":
			return fs.SkipDir
		case err != nil || entry.IsDir():
			return err
		}
		content, err := fs.ReadFile(root, name)
		files[name] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	if err := farm.Write(dir, files); err != nil {
		t.Fatal(err)
	}
}

// firstDifference returns the first lines of two texts that are not the same, or nothing.
func firstDifference(name, want, got string) string {
	if want == got {
		return ""
	}
	sides, n := [][]string{strings.Split(want, "\n"), strings.Split(got, "\n")}, 0
	for n < min(len(sides[0]), len(sides[1]))-1 && sides[0][n] == sides[1][n] {
		n++
	}
	text := fmt.Sprintf("  %s, line %d\n", strings.Trim(name, "/"), n+1)
	for i, lines := range sides {
		for _, line := range lines[n:min(n+3, len(lines))] {
			text += fmt.Sprintf("  %c %.300s\n", "-+"[i], line)
		}
	}
	return text
}

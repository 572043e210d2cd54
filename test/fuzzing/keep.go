// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// What is kept runs with each go test: it must stay cheap.
const (
	maxKept  = 32      // inputs of a target
	maxSize  = 6 << 10 // bytes of an input
	maxTried = 120     // inputs of a target, of all sizes
)

// keepAll copies inputs out of the cache of the fuzzer into the directories of the targets.
func keepAll(ctx context.Context, out io.Writer, targets []target, cache string) error {
	temporary, err := os.MkdirTemp("", "fuzzing-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	for _, t := range targets {
		k := keeper{target: t, program: filepath.Join(temporary, "tests"), profile: filepath.Join(temporary, "profile"), covered: map[string]bool{}}
		if err := k.keep(ctx, filepath.Join(cache, module, t.dir, t.name)); err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
		fmt.Fprintf(out, "%s: %d inputs tried, %d added, %d kept\n", t, k.tried, k.added, k.kept)
	}
	return nil
}

// keeper chooses the inputs of a target.
type keeper struct {
	target           target
	program, profile string
	covered          map[string]bool // blocks of statements
	tried, added     int
	kept             int
}

// keep copies the inputs of a directory that cover what no smaller one, and none that is kept already, does.
func (k *keeper) keep(ctx context.Context, found string) error {
	inputs, err := smallest(found)
	if err != nil {
		return err
	}
	before, err := os.ReadDir(k.target.corpus())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if k.kept = len(before); len(inputs) == 0 || k.kept >= maxKept {
		return nil
	}
	if err := k.target.build(ctx, k.program, "-cover", "-coverpkg", module+"/..."); err != nil {
		return err
	}
	if _, err := k.adds(ctx, "^"+k.target.name+"$"); err != nil {
		return err
	}
	for _, input := range inputs {
		if k.kept == maxKept {
			return nil
		}
		if err := k.try(ctx, filepath.Join(found, input)); err != nil {
			return err
		}
	}
	return nil
}

// smallest lists inputs in a directory that are small enough, the smallest first, and at most maxTried.
func smallest(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	sizes := map[string]int64{}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			return nil, err
		}
		if sizes[entry.Name()] = info.Size(); info.Size() <= maxSize {
			names = append(names, entry.Name())
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(sizes[a], sizes[b]), strings.Compare(a, b)) })
	if len(names) <= maxTried {
		return names, nil
	}
	tried := make([]string, maxTried)
	for i := range tried {
		tried[i] = names[i*len(names)/maxTried]
	}
	return tried, nil
}

// try keeps an input if it covers more.
func (k *keeper) try(ctx context.Context, input string) error {
	content, err := os.ReadFile(input)
	if err != nil {
		return err
	}
	kept := filepath.Join(k.target.corpus(), filepath.Base(input))
	if _, err := os.Stat(kept); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(kept), 0o750); err != nil {
		return err
	}
	if err := os.WriteFile(kept, content, 0o600); err != nil {
		return err
	}
	k.tried++
	adds, err := k.adds(ctx, "^"+k.target.name+"$/^"+filepath.Base(input)+"$")
	if err != nil {
		return fmt.Errorf("%s: %w", kept, err)
	}
	if !adds {
		return os.Remove(kept)
	}
	k.added++
	k.kept++
	return nil
}

// adds runs inputs and reports whether they cover what was not covered before.
func (k *keeper) adds(ctx context.Context, pattern string) (more bool, err error) {
	cmd := exec.CommandContext(ctx, k.program, "-test.run", pattern, "-test.coverprofile", k.profile)
	cmd.Dir = k.target.dir
	if output, err := cmd.CombinedOutput(); err != nil {
		return false, fmt.Errorf("%w\n%s", err, output)
	}
	profile, err := os.Open(k.profile)
	if err != nil {
		return false, err
	}
	defer profile.Close()
	for lines := bufio.NewScanner(profile); lines.Scan(); {
		// A line is "<file>:<from>,<to> <statements> <times>", but the first, which is "mode: set".
		block, covered := strings.CutSuffix(lines.Text(), " 1")
		if covered && !k.covered[block] {
			k.covered[block], more = true, true
		}
	}
	return more, nil
}

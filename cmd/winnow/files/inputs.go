// SPDX-License-Identifier: Apache-2.0

package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/winnow-dev/winnow/render/yamlnode"
)

// Input is a file of -f.
type Input struct {
	// Name of the file in messages.
	Name    string
	Content []byte
}

// Bounds of what -f reads: bytes in all, and files of a directory.
const (
	MaxInputBytes = 8 << 20
	maxInputs     = 1000
)

// ReadInputs reads a file, the manifests of a directory without subdirectories, or, for "-", standard input.
func ReadInputs(ctx context.Context, place string, stdin io.Reader) ([]Input, error) {
	if place != "-" {
		if info, err := os.Stat(place); err == nil && info.IsDir() {
			return readInputDirectory(ctx, place)
		}
	}
	content, err := Read(ctx, place, stdin, func(in io.Reader) ([]byte, error) {
		return ReadBounded(Label(place), in, MaxInputBytes)
	})
	return []Input{{Label(place), content}}, err
}

// ReadFile reads a file that must not have more bytes than the limit. It returns once the context is done, as Read does.
func ReadFile(ctx context.Context, name string, limit int64) ([]byte, error) {
	return Read(ctx, name, nil, func(in io.Reader) ([]byte, error) { return ReadBounded(name, in, limit) })
}

// Read reads a file or, for "-", standard input. It returns once the context is done, though neither the open of a
// named pipe nor the read from a pipe or a terminal ends with it.
func Read[T any](ctx context.Context, place string, stdin io.Reader, read func(io.Reader) (T, error)) (T, error) {
	return Await(ctx, func() (none T, err error) {
		if place == "-" {
			return read(stdin)
		}
		file, err := os.Open(place)
		if err != nil {
			return none, err
		}
		defer file.Close()
		return read(file)
	})
}

// readInputDirectory reads a directory through os.Root, so no symbolic link leads out of it.
func readInputDirectory(ctx context.Context, dir string) ([]Input, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", dir, err)
	}
	var all []Input
	total := 0
	for _, entry := range entries {
		if entry.IsDir() || !yamlnode.IsYAMLOrJSON(entry.Name()) {
			continue
		}
		if len(all) == maxInputs {
			return nil, fmt.Errorf("%s has more than %d manifests: pass a file, or a directory with fewer", dir, maxInputs)
		}
		content, err := readInput(ctx, root, dir, entry.Name())
		if err != nil {
			return nil, err
		}
		if total += len(content); total > MaxInputBytes {
			return nil, fmt.Errorf("%s has manifests with more than %d bytes: pass a file, or a directory with fewer", dir, MaxInputBytes)
		}
		all = append(all, Input{filepath.Join(dir, entry.Name()), content})
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no *.yaml, *.yml or *.json file; directories in it are not read", dir)
	}
	return all, nil
}

// readInput reads a file of a directory. A pipe is refused before it is opened, because that could wait forever.
func readInput(ctx context.Context, root *os.Root, dir, name string) ([]byte, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	where := filepath.Join(dir, name)
	info, err := root.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is no regular file")
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", where, err)
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", where, err)
	}
	defer f.Close()
	return ReadBounded(where, f, MaxInputBytes)
}

// ReadBounded reads a file that must not have more bytes than the limit. Errors have its name.
func ReadBounded(name string, in io.Reader, limit int64) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	if int64(len(content)) > limit {
		return nil, fmt.Errorf("%s is larger than %d bytes", name, limit)
	}
	return content, nil
}

// Label names the file of -f in messages.
func Label(file string) string {
	if file == "-" {
		return "standard input"
	}
	return file
}

// Exists reports whether the file exists.
func Exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// Await returns the results of do, or the error of the context once that ends. The goroutine of do
// then continues, so do must have no effects that outlast the process.
func Await[T any](ctx context.Context, do func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		value, err := do()
		done <- outcome{value, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

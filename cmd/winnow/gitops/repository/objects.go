// SPDX-License-Identifier: Apache-2.0

package repository

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"

	"github.com/winnow-dev/winnow/cmd/winnow/memo"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/bounded"
)

// Blob is a file of Git.
type Blob struct {
	// ID identifies the content, and Size has its bytes.
	ID   string
	Size int64
}

// Objects reads the blobs of a repository by their identifiers and caches them.
type Objects struct {
	cmd      *exec.Cmd
	in       io.WriteCloser
	out      *bufio.Reader
	stderr   *bounded.Buffer
	contents map[string][]byte
	bytes    int64
	// parsed has what blobs are parsed to.
	parsed memo.Memo
}

// MaxFile bounds the bytes of a file.
const MaxFile = 16 << 20

// maxBytes bounds the bytes of all files of both commits, each counted once.
const maxBytes = 512 << 20

// ErrTooLarge is the error of content that exceeds a limit.
var ErrTooLarge = errors.New("too large")

// Open starts git cat-file, which reads the blobs. The caller closes the objects.
func (g Git) Open(ctx context.Context) (*Objects, error) {
	cmd := g.command(ctx, "cat-file", "--batch")
	o := &Objects{cmd: cmd, stderr: &bounded.Buffer{Most: maxGitMessage}, contents: map[string][]byte{}, parsed: memo.Memo{}}
	cmd.Stderr = o.stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	o.in, o.out = in, bufio.NewReader(out)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("running git: %w", err)
	}
	return o, nil
}

// Close ends git and waits for it.
func (o *Objects) Close() {
	_ = o.in.Close()
	_ = o.cmd.Wait()
}

// read returns the content of a file. The caller must not change it.
func (o *Objects) read(file Blob) ([]byte, error) {
	if content, found := o.contents[file.ID]; found {
		return content, nil
	}
	if file.Size > MaxFile {
		return nil, fmt.Errorf("%w: it has more than %d bytes", ErrTooLarge, MaxFile)
	}
	if o.bytes += file.Size; o.bytes > maxBytes {
		return nil, fmt.Errorf("%w: the files that matter have more than %d bytes: pass the PATH of fewer", ErrTooLarge, maxBytes)
	}
	if _, err := fmt.Fprintln(o.in, file.ID); err != nil {
		return nil, o.failed(err)
	}
	content, err := readBlob(o.out, file)
	if err != nil {
		return nil, o.failed(err)
	}
	o.contents[file.ID] = content
	return content, nil
}

func (o *Objects) failed(err error) error {
	return fmt.Errorf("reading files of Git: %w: %s", err, plaintext.Line(string(o.stderr.Kept)))
}

// readBlob reads a blob in the format of cat-file: a header, the content and a line break.
func readBlob(out *bufio.Reader, file Blob) ([]byte, error) {
	header, err := out.ReadString('\n')
	if err != nil {
		return nil, err
	}
	if want := fmt.Sprintf("%s blob %d\n", file.ID, file.Size); header != want {
		return nil, fmt.Errorf("the object is not in this clone: %s", plaintext.Line(header))
	}
	content := make([]byte, file.Size+1)
	_, err = io.ReadFull(out, content)
	return content[:file.Size], err
}

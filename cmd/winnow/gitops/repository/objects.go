package gitops

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
)

// Bounds of the files of both commits.
const (
	maxFile  = 16 << 20  // bytes of a file
	maxBytes = 512 << 20 // bytes of all files, each counted once
)

// objects reads the blobs of a repository by their identifiers and caches them.
type objects struct {
	cmd      *exec.Cmd
	in       io.WriteCloser
	out      *bufio.Reader
	stderr   *firstBytes
	contents map[string][]byte
	bytes    int64
}

// open starts git cat-file. The caller closes the objects.
func (g Git) open(ctx context.Context) (*objects, error) {
	cmd := g.command(ctx, "cat-file", "--batch")
	o := &objects{cmd: cmd, stderr: &firstBytes{limit: maxGitMessage}, contents: map[string][]byte{}}
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

// close ends git and waits for it.
func (o *objects) close() {
	_ = o.in.Close()
	_ = o.cmd.Wait()
}

var errTooLarge = errors.New("too large")

// read returns the content of a file. The caller must not change it.
func (o *objects) read(file blob) ([]byte, error) {
	if content, found := o.contents[file.id]; found {
		return content, nil
	}
	if file.size > maxFile {
		return nil, fmt.Errorf("%w: it has more than %d bytes", errTooLarge, maxFile)
	}
	if o.bytes += file.size; o.bytes > maxBytes {
		return nil, fmt.Errorf("%w: the files that matter have more than %d bytes: pass the PATH of fewer", errTooLarge, maxBytes)
	}
	if _, err := fmt.Fprintln(o.in, file.id); err != nil {
		return nil, o.failed(err)
	}
	content, err := readBlob(o.out, file)
	if err != nil {
		return nil, o.failed(err)
	}
	o.contents[file.id] = content
	return content, nil
}

func (o *objects) failed(err error) error {
	return fmt.Errorf("reading files of Git: %w: %s", err, plaintext.Line(o.stderr.String()))
}

// readBlob reads a blob in the format of cat-file: a header, the content and a line break.
func readBlob(out *bufio.Reader, file blob) ([]byte, error) {
	header, err := out.ReadString('\n')
	if err != nil {
		return nil, err
	}
	if want := fmt.Sprintf("%s blob %d\n", file.id, file.size); header != want {
		return nil, fmt.Errorf("the object is not in this clone: %s", plaintext.Line(header))
	}
	content := make([]byte, file.size+1)
	_, err = io.ReadFull(out, content)
	return content[:file.size], err
}

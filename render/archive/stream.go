// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
)

// Buffer sizes for compressed and uncompressed bytes.
const (
	sourceBuffer = 32 << 10
	streamBuffer = 64 << 10
)

// errSource stands for the failure that is stored in a source.
var errSource = errors.New("reader failed")

// source is the caller's reader, bounded, and cancelled by the context. It
// stores a failure of the reader, so that failure can distinguish it from
// invalid content, through any number of wrapping readers.
type source struct {
	ctx  context.Context
	r    io.Reader
	left int64 // may get to -1: one byte too many has come
	max  int64
	err  error
}

func (s *source) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	if s.err != nil {
		return 0, errSource
	}
	if s.left < 0 {
		return 0, exceed("", "compressed bytes", s.max)
	}
	if int64(len(p))-1 > s.left {
		p = p[:s.left+1]
	}
	n, err := s.r.Read(p)
	s.left -= int64(n)
	// Only io.EOF itself ends a stream: network errors may wrap it.
	if err != nil && err != io.EOF {
		s.err = err
		return n, errSource
	}
	return n, err
}

// members reads a gzip file of one or several members. It splits the members
// itself, because gzip.Reader takes an end inside the name in a later member's
// header for the end of the file.
type members struct {
	r   *bufio.Reader
	z   *gzip.Reader // nil before the first member
	err error        // repeated, since io.ReadFull drops an error once it has all
}

func (m *members) Read(p []byte) (n int, err error) {
	for n == 0 && m.err == nil {
		n, m.err = m.read(p)
	}
	return n, m.err
}

// read reads from the current member, or moves on to the next one.
func (m *members) read(p []byte) (int, error) {
	if m.z == nil {
		return 0, m.next()
	}
	n, err := m.z.Read(p)
	if !errors.Is(err, io.EOF) {
		return n, err
	}
	if _, err := m.r.Peek(1); err != nil {
		return n, err
	}
	return n, m.next()
}

func (m *members) next() error {
	if m.z == nil {
		m.z = new(gzip.Reader)
	}
	err := m.z.Reset(m.r)
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	m.z.Multistream(false)
	return err
}

// stream is the uncompressed tar stream, bounded. It counts what the tar reader
// consumes, to find the end of the archive exactly.
type stream struct {
	ctx   context.Context
	r     io.Reader
	max   int64
	pos   int64
	zeros int64 // how many of the last bytes are zero
}

func (s *stream) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	left := s.max - s.pos
	if left < 0 {
		return 0, exceed("", "uncompressed bytes", s.max)
	}
	if int64(len(p))-1 > left {
		p = p[:left+1]
	}
	n, err := s.r.Read(p)
	s.pos += int64(n)
	if s.pos > s.max {
		// Without the bytes, since io.ReadFull drops an error once it has all.
		return 0, exceed("", "uncompressed bytes", s.max)
	}
	s.countZeros(p[:n])
	return n, err
}

func (s *stream) countZeros(p []byte) {
	rest := bytes.TrimRight(p, "\x00")
	if len(rest) > 0 {
		s.zeros = 0
	}
	s.zeros += int64(len(p) - len(rest))
}

// drain reads to the end, which also checks gzip's checksum, and demands zeros:
// tar ignores what follows the end of an archive, so another tool might find
// other files there.
func (s *stream) drain() error {
	buffer := make([]byte, 4<<10)
	for {
		before := s.zeros
		n, err := s.Read(buffer)
		if s.zeros != before+int64(n) {
			return refuse("", "data after the end of the archive")
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// failure returns the error of the reader or the context if there was one, and
// otherwise an *Error of the content.
func (s *source) failure(err error) error {
	var own *Error
	switch {
	case errors.As(err, &own):
		return own
	case s.err != nil:
		return fmt.Errorf("reading archive: %w", s.err)
	case s.ctx.Err() != nil:
		return fmt.Errorf("reading archive: %w", s.ctx.Err())
	case errors.Is(err, io.ErrNoProgress):
		return fmt.Errorf("reading archive: %w", err)
	}
	return &Error{Reason: "malformed: " + err.Error(), Err: err}
}

// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/winnow-dev/winnow/render/excerpt"
)

// Bounds of a path, in bytes. Linux's PATH_MAX and NAME_MAX are 4096 and 255;
// the rest of the former is left to the directory that an artifact is unpacked
// into.
const (
	MaxPathLength    = 1024
	MaxElementLength = 255
)

// PathError is returned for a refused path, or a refused file at that path.
type PathError struct {
	// Path is the path as passed by the caller.
	Path string
	// Reason is a short phrase without the path.
	Reason string
}

// Error returns the path, quoted and shortened, and the reason.
func (e *PathError) Error() string {
	return fmt.Sprintf("file %s: %s", quote(e.Path), e.Reason)
}

// CheckPath returns a *PathError unless path is safe as the path of a file in
// an artifact: relative, slash separated and without "." or ".." elements (as
// fs.ValidPath has it), not the root, valid UTF-8 without control characters
// and backslashes, and not longer than MaxPathLength and MaxElementLength.
//
// Backslash and newline also keep sha256sum from escaping names, which Digest
// relies on. An element that merely ends in ".." is refused because Flux's
// Untar takes "a../b" for a climbing path.
func CheckPath(path string) error {
	if reason := unsafe(path); reason != "" {
		return &PathError{Path: path, Reason: reason}
	}
	return nil
}

func unsafe(path string) string {
	switch {
	case path == "":
		return "path is empty"
	case len(path) > MaxPathLength:
		return fmt.Sprintf("path is longer than %d bytes", MaxPathLength)
	case !utf8.ValidString(path):
		return "path is not valid UTF-8"
	case strings.IndexFunc(path, unicode.IsControl) >= 0:
		return "path contains a control character"
	case strings.Contains(path, `\`):
		return "path contains a backslash"
	case path[0] == '/':
		return "path is absolute"
	case path == ".":
		return "path is the root"
	}
	for element := range strings.SplitSeq(path, "/") {
		if reason := unsafeElement(element); reason != "" {
			return reason
		}
	}
	if strings.Contains(path, "../") {
		return `path has a directory whose name ends in ".."`
	}
	return ""
}

func unsafeElement(element string) string {
	switch {
	case element == "":
		return "path has an empty element"
	case element == ".":
		return `path has a "." element`
	case element == "..":
		return `path has a ".." element`
	case len(element) > MaxElementLength:
		return fmt.Sprintf("path has an element longer than %d bytes", MaxElementLength)
	}
	return ""
}

// quote quotes an untrusted path for a message, and bounds it, because messages
// are written to statuses and events.
func quote(path string) string {
	return excerpt.QuotedTo(path, 200)
}

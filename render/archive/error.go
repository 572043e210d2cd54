// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"fmt"
	"strconv"
)

// Error is returned for hostile or malformed content, and for content over a
// limit. It is permanent: reading the same bytes fails again. Other errors of
// Read and ReadFS come from the reader or the context and may be retried.
type Error struct {
	// Path is the entry's name as in the archive, empty for an error of the
	// archive as a whole.
	Path string
	// Reason is a short phrase without the path.
	Reason string
	// Limit is true if a limit is exceeded, which other Limits may allow.
	Limit bool
	// Err is the cause where there is one, a *tree.PathError for instance;
	// Reason has its text.
	Err error
}

// Error returns for instance `archive entry "a/b": symbolic link is not
// allowed`. A long path is shortened: the text may end up in a status.
func (e *Error) Error() string {
	if e.Path == "" {
		return "archive: " + e.Reason
	}
	const limit = 200
	if len(e.Path) > limit {
		return fmt.Sprintf("archive entry %s...: %s", strconv.Quote(e.Path[:limit]), e.Reason)
	}
	return fmt.Sprintf("archive entry %s: %s", strconv.Quote(e.Path), e.Reason)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error {
	return e.Err
}

func refuse(path, reason string) *Error {
	return &Error{Path: path, Reason: reason}
}

func exceed(path, what string, limit int64) *Error {
	return &Error{Path: path, Reason: fmt.Sprintf("%s over the limit of %d", what, limit), Limit: true}
}

package archive

import (
	"fmt"
	"strconv"
)

// Error says that the content is at fault: hostile, malformed or over a limit.
// Reading the same bytes again fails again, so it is permanent; whatever else
// Read and ReadFS return comes from the reader or the context and may be
// retried.
type Error struct {
	// Path is the entry's name as the archive has it, empty where the archive
	// as a whole is meant.
	Path string
	// Reason is a short phrase without the path.
	Reason string
	// Limit tells that a limit is exceeded, which other Limits may allow.
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

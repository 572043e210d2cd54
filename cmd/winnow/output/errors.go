// SPDX-License-Identifier: Apache-2.0

package output

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/cmd/winnow/selectionfile"
	"github.com/winnow-dev/winnow/registry/redact"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/catalog/violation"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// FindingError reports that a command could read its input and that a check of the command failed. Input
// that the renderer refuses is a *render.Error, with a reason of the API.
type FindingError struct{ err error }

// Finding returns err as a *FindingError.
func Finding(err error) error { return &FindingError{err} }

func (e *FindingError) Error() string { return e.err.Error() }

func (e *FindingError) Unwrap() error { return e.err }

// unusableError reports an input that a verb cannot work on, because it is invalid. In a verb whose answer is about
// something else, that is no finding.
type unusableError struct{ err error }

func (e *unusableError) Error() string { return e.err.Error() }

func (e *unusableError) Unwrap() error { return e.err }

// Unusable returns err as an *unusableError, or nil.
func Unusable(err error) error {
	if err == nil {
		return nil
	}
	return &unusableError{err}
}

// IsFinding reports whether err is the result of a verb: its input is invalid, or has what the verb looks for. The help
// of each verb has a line about it.
func IsFinding(err error) bool {
	if _, unusable := errors.AsType[*unusableError](err); unusable {
		return false
	}
	_, refused := errors.AsType[*render.Error](err)
	_, found := errors.AsType[*FindingError](err)
	return refused || found
}

// maxViolations bounds the violations of a selection that are printed: its lists may have thousands.
const maxViolations = 100

// PrintError prints an error for people and for the logs of CI. It prints the violations of an invalid input one a line,
// and leaves out escape sequences and the users and passwords of URLs, which an error may quote.
func PrintError(w io.Writer, err error) {
	var text strings.Builder
	writeError(&text, err)
	for line := range strings.Lines(redact.Text(text.String())) {
		fmt.Fprintln(w, plaintext.Printable(line))
	}
}

func writeError(w io.Writer, err error) {
	violations, omitted, cause := violationsOf(err)
	if cause == nil {
		fmt.Fprintf(w, "winnow: %v\n", err)
		return
	}
	where := strings.TrimSuffix(err.Error(), cause.Error())
	fmt.Fprintf(w, "winnow: %sinvalid, violations: %d\n", where, len(violations)+omitted)
	for _, violation := range excerpt.First(violations, len(violations), omitted, excerpt.More) {
		fmt.Fprintln(w, violation)
	}
}

// violationsOf returns the violations of an error in err's chain, the number of further violations
// without a text, and that error, which is nil if the chain has no violations.
func violationsOf(err error) (violations []string, omitted int, cause error) {
	if invalid, ok := errors.AsType[*violation.InvalidError](err); ok {
		return each.Map(invalid.Violations, violation.Violation.String), invalid.Omitted, invalid
	}
	if refused, ok := errors.AsType[*selectionfile.InvalidError](err); ok {
		all := refused.Lines()
		violations = each.Map(all[:min(len(all), maxViolations)], plaintext.Line)
		return violations, len(all) - len(violations) + refused.Omitted, refused
	}
	// Kubernetes' validation and strict decoding return such errors.
	var several interface {
		error
		Errors() []error
	}
	if errors.As(err, &several) {
		for _, one := range several.Errors() {
			violations = append(violations, strings.Join(strings.Fields(one.Error()), " "))
		}
		return violations, 0, several
	}
	return nil, 0, nil
}

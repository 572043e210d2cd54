package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/cmd/winnow/selectionfile"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/catalog"
)

// findingError says that a command has read its input and found something wrong with it, by a check of its
// own. What the renderer refuses is a *render.Error, with a reason of the API.
type findingError struct{ err error }

func (e *findingError) Error() string { return e.err.Error() }

func (e *findingError) Unwrap() error { return e.err }

// isFinding reports whether the input is wrong, and not its reading.
func isFinding(err error) bool {
	var refused *render.Error
	var found *findingError
	return errors.As(err, &refused) || errors.As(err, &found)
}

// maxViolations of a selection are printed: its lists may have thousands.
const maxViolations = 100

// printError prints an error for people and for the logs of CI: an input that breaks several
// rules with one violation a line, all of them.
func printError(w io.Writer, err error) {
	violations, omitted, cause := violationsOf(err)
	if cause == nil {
		fmt.Fprintf(w, "winnow: %v\n", err)
		return
	}
	where := strings.TrimSuffix(err.Error(), cause.Error())
	fmt.Fprintf(w, "winnow: %sinvalid, violations: %d\n", where, len(violations)+omitted)
	for _, violation := range violations {
		fmt.Fprintln(w, violation)
	}
	if omitted > 0 {
		fmt.Fprintf(w, "and %d more\n", omitted)
	}
}

// violationsOf returns the violations that an error in err's chain stands for, how many more
// there are that it has no text of, and that error; nil if there is none.
func violationsOf(err error) (violations []string, omitted int, cause error) {
	var invalid *catalog.InvalidError
	if errors.As(err, &invalid) {
		for _, v := range invalid.Violations {
			violations = append(violations, v.String())
		}
		return violations, invalid.Omitted, invalid
	}
	var refused *selectionfile.InvalidError
	if errors.As(err, &refused) {
		all := refused.Lines()
		for _, line := range all[:min(len(all), maxViolations)] {
			violations = append(violations, plaintext.Line(line))
		}
		return violations, len(all) - len(violations) + refused.Omitted, refused
	}
	// What Kubernetes' validation and strict decoding return.
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

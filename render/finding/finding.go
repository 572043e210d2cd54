// Package finding formats findings in files, with the path and the line. It must not know what is in the files.
package finding

import (
	"errors"
	"fmt"

	"github.com/winnow-dev/winnow/render/excerpt"
)

// maxListed findings are part of an error's text: it ends up in conditions and events.
const maxListed = 20

// Place returns "path:line", which terminals and editors open, without the line when it is 0.
func Place(path string, line int) string {
	if line == 0 {
		return path
	}
	return fmt.Sprintf("%s:%d", path, line)
}

// Text returns "path:line: message", without the line when it is 0.
func Text(path string, line int, message string) string { return Place(path, line) + ": " + message }

// List lists the first 20 findings, and the number of the others: omitted ones were found as well, but not kept.
func List[T fmt.Stringer](found []T, omitted int) string {
	return excerpt.Clauses(found, maxListed, omitted, T.String)
}

// Violations is List after the number of the violations, if there are several.
func Violations[T fmt.Stringer](found []T, omitted int) string {
	if total := len(found) + omitted; total != 1 {
		return fmt.Sprintf("%d violations: %s", total, List(found, omitted))
	}
	return List(found, omitted)
}

// Errors returns the findings one by one, and last the number of those that were omitted.
func Errors[T fmt.Stringer](found []T, omitted int) []error {
	errs := make([]error, 0, len(found)+1)
	for _, one := range found {
		errs = append(errs, errors.New(one.String()))
	}
	if omitted > 0 {
		errs = append(errs, fmt.Errorf("and %d more", omitted))
	}
	return errs
}

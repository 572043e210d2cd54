package backend

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/winnow-dev/winnow/render/excerpt"
)

// Error is a reason why an instance cannot be installed.
type Error struct {
	// Instance is its name.
	Instance string
	// Application whose definition has the field, empty if it is a field of the instance.
	Application string
	// Path of the field: of the definition from spec on, or below the instance. Empty for the whole.
	Path string
	// Message says what is wrong, and what to do.
	Message string
}

func (e *Error) Error() string {
	text := "instance " + excerpt.Of(e.Instance) + ": "
	if e.Application != "" {
		text += "definition " + excerpt.Of(e.Application) + ": "
	}
	if e.Path != "" {
		text += excerpt.To(printable(e.Path), maxPath) + ": "
	}
	return text + e.Message
}

// printable escapes what a key of a catalog could write to a terminal.
func printable(path string) string {
	if strings.IndexFunc(path, func(r rune) bool { return !unicode.IsPrint(r) }) < 0 {
		return path
	}
	return strconv.Quote(path)
}

const (
	// maxPath bounds a path in a message, maxProblems the problems of an instance.
	maxPath     = 200
	maxProblems = 20
)

// refuse adds a problem with a field of the instance.
func (d *draft) refuse(path, format string, args ...any) {
	d.problems = append(d.problems, &Error{Instance: d.Name, Path: path, Message: fmt.Sprintf(format, args...)})
}

// fault adds a problem with a field of the definition.
func (d *draft) fault(path, format string, args ...any) {
	d.problems = append(d.problems, &Error{
		Instance: d.Name, Application: d.Application.Name, Path: path, Message: fmt.Sprintf(format, args...),
	})
}

// err joins the problems, of which it keeps the first.
func (d *draft) err() error {
	var all []error
	seen := map[string]bool{}
	d.problems = slices.DeleteFunc(d.problems, func(problem *Error) bool {
		isKnown := seen[problem.Error()]
		seen[problem.Error()] = true
		return isKnown
	})
	for _, problem := range d.problems[:min(len(d.problems), maxProblems)] {
		all = append(all, problem)
	}
	if more := len(d.problems) - len(all); more > 0 {
		all = append(all, &Error{Instance: d.Name, Message: fmt.Sprintf("%d more problems", more)})
	}
	return errors.Join(all...)
}

func quote(text string) string { return excerpt.Quoted(text) }

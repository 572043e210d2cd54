// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"errors"
	"fmt"
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
	// Message describes what is wrong, and what to do.
	Message string
}

func (e *Error) Error() string {
	text := "instance " + excerpt.Of(e.Instance) + ": "
	if e.Application != "" {
		text += "definition " + excerpt.Of(e.Application) + ": "
	}
	if e.Path != "" {
		text += PrintablePath(e.Path) + ": "
	}
	return text + e.Message
}

// maxPath bounds a path in a message, maxProblems the problems of an instance.
const (
	maxPath     = 200
	maxProblems = 20
)

// PrintablePath escapes what a key of a catalog could write to a terminal, and bounds the path.
func PrintablePath(path string) string {
	if strings.ContainsFunc(path, func(r rune) bool { return !unicode.IsPrint(r) }) {
		path = strconv.Quote(path)
	}
	return excerpt.To(path, maxPath)
}

// Indexed returns the path of an element of a list.
func Indexed(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

// Problems are the reasons why an instance cannot be installed.
type Problems []*Error

// Err joins the first problems of an instance, each once. Without problems it is nil.
func (p Problems) Err(instance string) error {
	var all []error
	seen := map[string]bool{}
	for _, problem := range p {
		if text := problem.Error(); !seen[text] {
			seen[text] = true
			all = append(all, problem)
		}
	}
	return errors.Join(excerpt.First(all, maxProblems, 0, func(more int) error {
		return &Error{Instance: instance, Message: fmt.Sprintf("%d more problems", more)}
	})...)
}

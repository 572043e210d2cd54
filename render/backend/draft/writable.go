// SPDX-License-Identifier: Apache-2.0

package draft

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/catalog/kustomize"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// checkWritable refuses values that no object can have, or that kustomize cannot carry.
func checkWritable(path string, values map[string]any, refuse func(path, format string, args ...any)) {
	w := walk{refuse: refuse, left: yamlnode.MaxNodes}
	w.visit(path, values, yamlnode.MaxDepth)
}

// walk visits values within bounds.
type walk struct {
	refuse func(path, format string, args ...any)
	left   int
}

func (w *walk) visit(path string, value any, depth int) {
	if w.left--; w.left < 0 || depth == 0 {
		if w.left == -1 || depth == 0 {
			w.refuse(path, "values have more than %d nodes, or are nested deeper than %d levels", yamlnode.MaxNodes, yamlnode.MaxDepth)
		}
		return
	}
	switch typed := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(typed)) {
			w.report(path, keyProblem(name))
			w.visit(path+"."+name, typed[name], depth-1)
		}
	case []any:
		for i, element := range typed {
			w.visit(backend.Indexed(path, i), element, depth-1)
		}
	default:
		w.report(path, scalarProblem(value))
	}
}

func (w *walk) report(path, problem string) {
	if problem != "" {
		w.refuse(path, "%s", problem)
	}
}

// scalarProblem returns why a value is none that an object can have, empty if it is one.
func scalarProblem(value any) string {
	if yamlnode.IsRounded(value) {
		return backend.RoundedProblem
	}
	switch typed := value.(type) {
	case nil, bool, int64:
		return ""
	case string:
		return textProblem(typed)
	case float64:
		if math.IsNaN(typed) || math.IsInf(typed, 0) {
			return "is not a finite number"
		}
		return ""
	default:
		return fmt.Sprintf("is of the type %T, which JSON does not have", value)
	}
}

// maxKey bounds a key in bytes, quoted with all that may be escaped. Parsers of YAML take no more than 1024.
const maxKey = 1000

// keyProblem and textProblem return why kustomize cannot carry a key or a text, empty if it can.
func keyProblem(key string) string {
	switch {
	case key == "<<":
		return "has the key <<, which kustomize drops"
	case len(strconv.QuoteToASCII(key)) > maxKey:
		return "has a key that is too long for kustomize to read again"
	default:
		return textProblem(key)
	}
}

func textProblem(text string) string {
	if !utf8.ValidString(text) {
		return "is not UTF-8"
	}
	return kustomize.CharacterProblem(text)
}

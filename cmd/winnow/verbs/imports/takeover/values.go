// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/render/excerpt"
)

// without returns values without what the defaults say as well. A template proves nothing that could be compared.
func without(values, defaults map[string]any) map[string]any {
	left := map[string]any{}
	for name, value := range values {
		under, isSet := defaults[name]
		members, isMapping := value.(map[string]any)
		defaultMembers, both := under.(map[string]any)
		switch {
		case isSet && isMapping && both:
			if rest := without(members, defaultMembers); len(rest) > 0 {
				left[name] = rest
			}
		case !isSet || isTemplate(under) || !same(value, under):
			left[name] = value
		}
	}
	return left
}

// isTemplate reports whether KKP changes a value.
func isTemplate(value any) bool {
	switch typed := value.(type) {
	case string:
		return strings.Contains(typed, "{{")
	case []any:
		return slices.ContainsFunc(typed, isTemplate)
	case map[string]any:
		for name, member := range typed {
			if isTemplate(name) || isTemplate(member) {
				return true
			}
		}
	}
	return false
}

// same compares JSON's types, with 1 and 1.0 as one number.
func same(a, b any) bool {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		return ok && len(x) == len(y) && len(differences("", x, y)) == 0
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, same)
	case int64:
		if y, ok := b.(float64); ok {
			return float64(x) == y
		}
	case float64:
		if y, ok := b.(int64); ok {
			return x == float64(y)
		}
	}
	return reflect.DeepEqual(a, b)
}

// differences returns the paths at which two values differ, sorted.
func differences(prefix string, a, b map[string]any) []string {
	var paths []string
	names := slices.Collect(maps.Keys(a))
	names = slices.AppendSeq(names, maps.Keys(b))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		x, inA := a[name]
		y, inB := b[name]
		under, isMapping := x.(map[string]any)
		over, isOther := y.(map[string]any)
		switch {
		case isMapping && isOther, !inB && len(under) > 0, !inA && len(over) > 0:
			paths = append(paths, differences(prefix+name+".", under, over)...)
		case inA != inB || !same(x, y):
			paths = append(paths, prefix+name)
		}
	}
	return paths
}

// nulls returns the first path with the value null, empty without one.
func nulls(prefix string, values map[string]any) string {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		switch typed := values[name].(type) {
		case nil:
			return prefix + name
		case map[string]any:
			if found := nulls(prefix+name+".", typed); found != "" {
				return found
			}
		}
	}
	return ""
}

// listPaths lists paths for a message.
func listPaths(paths []string) string {
	return excerpt.List(paths, maxNamed, func(path string) string { return excerpt.To(path, maxPath) })
}

// maxNamed bounds names in a reason, maxPath a path in bytes.
const (
	maxNamed = 5
	maxPath  = 100
)

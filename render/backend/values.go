package backend

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/winnow-dev/winnow/render/yamlnode"
)

// MergeValues returns values with others merged over them. Mappings are merged; everything else, a list too,
// is replaced. A null stays null: it deletes what is merged under it later, as the defaults of a chart. The
// result shares nothing with the arguments.
func MergeValues(values, over map[string]any) map[string]any {
	merged := make(map[string]any, len(values)+len(over))
	for name, value := range values {
		merged[name] = clone(value)
	}
	for name, value := range over {
		under, isMapping := merged[name].(map[string]any)
		replacing, both := value.(map[string]any)
		if isMapping && both {
			merged[name] = MergeValues(under, replacing)
			continue
		}
		merged[name] = clone(value)
	}
	return merged
}

// clone copies mappings and lists.
func clone(value any) any {
	switch typed := value.(type) {
	case map[string]any:
		return MergeValues(typed, nil)
	case []any:
		list := make([]any, 0, len(typed))
		for _, element := range typed {
			list = append(list, clone(element))
		}
		return list
	default:
		return value
	}
}

// writable refuses values that no object can have, or that kustomize cannot carry.
func (d *draft) writable(path string, values map[string]any) {
	w := walk{draft: d, left: yamlnode.MaxNodes}
	w.visit(path, values, yamlnode.MaxDepth)
}

// walk visits values within bounds.
type walk struct {
	*draft

	left int
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
			w.visit(indexed(path, i), element, depth-1)
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

// withoutNulls returns values without the members that are null: where nothing lies under the values, null
// means what a missing member means.
func withoutNulls(values map[string]any) map[string]any {
	kept := make(map[string]any, len(values))
	for name, value := range values {
		switch typed := value.(type) {
		case nil:
		case map[string]any:
			kept[name] = withoutNulls(typed)
		default:
			kept[name] = clone(value)
		}
	}
	return kept
}

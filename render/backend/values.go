// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/json"

	"github.com/winnow-dev/winnow/render/dialect"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// MergeValues returns values with others merged over them. Mappings are merged; everything else, a list too,
// is replaced. A null stays null: it deletes what is merged under it later, as the defaults of a chart. The
// result shares nothing with the arguments.
func MergeValues(values, over map[string]any) map[string]any {
	merged := make(map[string]any, len(values)+len(over))
	for name, value := range values {
		merged[name] = Clone(value)
	}
	for name, value := range over {
		under, isMapping := merged[name].(map[string]any)
		replacing, both := value.(map[string]any)
		if isMapping && both {
			merged[name] = MergeValues(under, replacing)
			continue
		}
		merged[name] = Clone(value)
	}
	return merged
}

// Clone copies mappings and lists.
func Clone(value any) any {
	switch typed := value.(type) {
	case map[string]any:
		return MergeValues(typed, nil)
	case []any:
		list := make([]any, 0, len(typed))
		list = append(list, each.Map(typed, Clone)...)
		return list
	default:
		return value
	}
}

// RoundedProblem is what is wrong with a number that has been rounded.
const RoundedProblem = "has a number that readers of YAML and JSON round, because no signed integer of 64 bits holds it: write it in quotes"

// RoundedIn returns the path of a number that has been rounded; found is false without one.
func RoundedIn(path string, value any) (at string, found bool) {
	switch typed := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(typed)) {
			if at, found := RoundedIn(strings.TrimPrefix(path+"."+name, "."), typed[name]); found {
				return at, true
			}
		}
	case []any:
		for i, element := range typed {
			if at, found := RoundedIn(Indexed(path, i), element); found {
				return at, true
			}
		}
	}
	return path, yamlnode.IsRounded(value)
}

// WithoutNulls returns values without the members that are null: where nothing lies under the values, null
// means what a missing member means.
func WithoutNulls(values map[string]any) map[string]any {
	kept := make(map[string]any, len(values))
	for name, value := range values {
		switch typed := value.(type) {
		case nil:
		case map[string]any:
			kept[name] = WithoutNulls(typed)
		default:
			kept[name] = Clone(value)
		}
	}
	return kept
}

// DecodeValues reads values as dialect.Values does. They are nil if the text is empty. The error describes what is wrong with the
// text.
func DecodeValues(text []byte) (map[string]any, error) {
	if _, err := yamlnode.Head(text); err != nil {
		line, message := yamlnode.Position(err, text)
		return nil, fmt.Errorf("is not valid YAML: line %d: %s", line, message)
	}
	node, err := dialect.Values(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("cannot be used: %w", err)
	case node == nil:
		return nil, nil
	}
	encoded, err := dialect.JSON(text)
	if err != nil {
		return nil, fmt.Errorf("is not valid YAML: %s", excerpt.Of(err.Error()))
	}
	var values map[string]any
	if err := json.Unmarshal(encoded, &values); err != nil {
		return nil, errors.New("must hold a mapping")
	}
	if at, found := RoundedIn("", values); found {
		return nil, fmt.Errorf("%s %s", PrintablePath(at), RoundedProblem)
	}
	return values, nil
}

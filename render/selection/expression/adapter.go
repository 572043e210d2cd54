// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"slices"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// adapter converts Go's values to CEL's. Its maps iterate in the order of their keys, while CEL's own
// have no order: an expression must have the same result in every evaluation.
type adapter struct{}

// NativeToValue converts a value and the values in it.
func (a adapter) NativeToValue(value any) ref.Val {
	switch typed := value.(type) {
	case map[string]string:
		return ordered{types.NewStringStringMap(a, typed)}
	case map[string]any:
		return ordered{types.NewStringInterfaceMap(a, typed)}
	case []any:
		return types.NewDynamicList(a, typed)
	default:
		return types.DefaultTypeAdapter.NativeToValue(value)
	}
}

// ordered is a map with string keys that iterates in their order.
type ordered struct {
	traits.Mapper
}

// Iterator returns the keys, sorted.
func (o ordered) Iterator() traits.Iterator {
	var keys []string
	for rest := o.Mapper.Iterator(); rest.HasNext() == types.True; {
		if key, ok := rest.Next().(types.String); ok {
			keys = append(keys, string(key))
		}
	}
	slices.Sort(keys)
	return types.NewStringList(adapter{}, keys).Iterator()
}

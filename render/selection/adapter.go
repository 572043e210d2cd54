package selection

import (
	"slices"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// adapter turns Go's values into CEL's. Its maps are gone through in the order of their keys,
// while CEL's own have none: an expression must not have another result tomorrow.
type adapter struct{}

// NativeToValue converts a value and all that is in it.
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

// ordered is a map with strings as keys that has an order.
type ordered struct {
	traits.Mapper
}

// Iterator goes through the keys, which are strings.
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

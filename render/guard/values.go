package guard

import (
	"errors"

	"github.com/winnow-dev/winnow/render/yamlnode"
)

// errValues says that default values are no mapping.
var errValues = errors.New("they are no mapping of plain values")

// parseValues reads default values as the transformations do, by YAML 1.2 and with merge keys: y is a
// name there, not true.
func parseValues(text string) (map[string]any, error) {
	root, err := yamlnode.First([]byte(text))
	if err != nil {
		return nil, err
	}
	if root == nil {
		return nil, errValues
	}
	if err := yamlnode.Validate(root); err != nil {
		return nil, err
	}
	content, err := yamlnode.Plain(root)
	if err != nil {
		return nil, err
	}
	values, ok := content.(map[string]any)
	if !ok {
		return nil, errValues
	}
	return values, nil
}

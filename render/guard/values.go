// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"errors"

	"github.com/winnow-dev/winnow/render/yamlnode"
)

// errValues reports that default values are no mapping.
var errValues = errors.New("they are no mapping of plain values")

// parseValues reads default values as the transformations do, by YAML 1.2 and with merge keys: y is a
// name there, not true.
func parseValues(text string) (map[string]any, error) {
	values, err := yamlnode.Mapping([]byte(text))
	if errors.Is(err, yamlnode.ErrNoMapping) {
		return nil, errValues
	}
	return values, err
}

// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"math"

	"github.com/winnow-dev/winnow/render/yamledit"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// YAML returns the object with sorted keys, written so that kustomize, which writes every object again, carries
// each value. How deep they are nested was checked where they were read.
func (o Object) YAML() ([]byte, error) {
	node, err := yamledit.OfJSON(o.Object, math.MaxInt)
	if err != nil {
		return nil, err
	}
	return yamlnode.Encode(node)
}

// SPDX-License-Identifier: Apache-2.0

package safeguard

import (
	"encoding/json"

	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/identity"
	"github.com/winnow-dev/winnow/render/krmfunctions"
)

// RuntimeOrigins returns the origins of versions of a function by their names: digests of the image, the programs and the
// script that run. They are empty where nothing does.
func RuntimeOrigins(of *krmfunctions.Function, names []string) Origins {
	runtimes := make(map[string]*krmfunctions.Runtime, len(of.Versions))
	for _, version := range of.Versions {
		runtimes[version.Name] = version.Runtime
	}
	return each.Map(names, func(name string) string {
		source := runtimes[name].Source()
		if len(source) == 0 {
			return ""
		}
		encoded, _ := json.Marshal(source) // texts can always be encoded
		return identity.OriginOf(string(encoded))
	})
}

// SPDX-License-Identifier: Apache-2.0

package safeguard

import (
	"encoding/json"

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
	origins := make(Origins, len(names))
	for i, name := range names {
		source := runtimes[name].Source()
		if len(source) == 0 {
			continue
		}
		if encoded, err := json.Marshal(source); err == nil { // texts can always be encoded
			origins[i] = identity.OriginOf(string(encoded))
		}
	}
	return origins
}

// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"slices"

	"github.com/fluxcd/pkg/apis/kustomize"

	"github.com/winnow-dev/winnow/render/definition"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/kustomized"
	"github.com/winnow-dev/winnow/render/patching"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/value"
)

// Patched are versions that a definition has before the patches, and lacks behind them.
type Patched struct {
	Application string
	Versions    []string
	// Default is set if spec.defaultVersion is one of them, and stays.
	Default bool
	// Patches are the indexes of the patches that may change the definition.
	Patches []int
}

// String returns a sentence with the patches and the remedy.
func (p Patched) String() string {
	also := ""
	if p.Default {
		also = ", its spec.defaultVersion among them"
	}
	return fmt.Sprintf("%s loses versions by %s: %s%s: a merge patch replaces a list as a whole, and KKP uninstalls what uses a removed version; "+
		"repeat the whole list, or change an entry with a JSON 6902 patch", p.Application, patching.Fields(p.Patches), excerpt.Names(p.Versions, maxPatchedVersions), also)
}

// maxPatchedVersions bounds the versions in a sentence.
const maxPatchedVersions = 20

// takenByPatches compares definitions with the built objects; objects is nil without patches.
func takenByPatches(definitions []safeguard.Definition, objects map[safeguard.Key]kustomized.Object, patches []kustomize.Patch) []Patched {
	var all []Patched
	for _, d := range definitions {
		object, ok := objects[d.Key()]
		if !ok {
			continue
		}
		kept := safeguard.Versions(object)
		taken := slices.DeleteFunc(slices.Clone(d.Versions), func(v string) bool { return slices.Contains(kept, v) })
		if len(taken) == 0 {
			continue
		}
		preferred := definition.DefaultVersion(value.Of(object).Get("spec"))
		all = append(all, Patched{
			Application: d.Name, Versions: taken, Default: slices.Contains(taken, preferred), Patches: patching.Touching(patches, d.Kind, d.Name),
		})
	}
	return all
}

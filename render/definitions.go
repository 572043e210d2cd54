// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"

	"github.com/winnow-dev/winnow/render/identity"
	"github.com/winnow-dev/winnow/render/kustomized"
	"github.com/winnow-dev/winnow/render/refusal"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/selection"
)

// distinctKinds refuses definitions of Cozystack that install the same kind: its API server would
// serve either of them, and reconcile the releases of both. A catalog alone cannot have two, several
// sources and patches can.
func distinctKinds(definitions []safeguard.Definition) error {
	type installed struct{ group, kind string }
	first := map[installed]safeguard.Definition{}
	var errs []error
	for _, d := range definitions {
		kind := d.Identity[identity.Kind]
		if kind == "" {
			continue
		}
		key := installed{d.Key().Group, kind}
		other, taken := first[key]
		if !taken {
			first[key] = d
			continue
		}
		errs = append(errs, fmt.Errorf("%s of the source %s and %s of the source %s both install the kind %q, which Cozystack serves once: "+
			"add one of the two to spec.exclude", other.Name, other.Source, d.Name, d.Source, kind))
	}
	return refusal.OfSpec("spec.sources", errs)
}

// definitions returns the definitions of the artifact, with the versions and identities of the decisions and
// documents.
func definitions(decisions []selection.Decision, documents []document) []safeguard.Definition {
	out := make([]safeguard.Definition, len(decisions))
	for i, d := range decisions {
		out[i] = safeguard.Definition{
			APIVersion: d.Application.APIVersion, Kind: d.Application.Kind, Name: d.Application.Name,
			Source: d.Source, Versions: d.Versions,
			Origins: documents[i].identity.Origins, Identity: documents[i].identity.Fields,
		}
	}
	return out
}

// asPatched returns definitions with the versions and identities of the built objects, which patches may have changed.
// objects is nil without patches.
func asPatched(definitions []safeguard.Definition, objects map[safeguard.Key]kustomized.Object) []safeguard.Definition {
	if objects == nil {
		return definitions
	}
	built := kustomized.Definitions(objects)
	for i, d := range definitions {
		patched := built[d.Key()]
		definitions[i].Versions, definitions[i].Origins, definitions[i].Identity = patched.Versions, patched.Origins, patched.Identity
	}
	return definitions
}

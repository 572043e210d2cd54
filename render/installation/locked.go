// SPDX-License-Identifier: Apache-2.0

package installation

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/catalog/metadata"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/instance"
)

// LockedIn returns what Definition.Locked has of a main object among the objects of an artifact, without the paths, which
// the artifact does not tell.
func LockedIn(main backend.Object, objects []backend.Object) map[string]string {
	return map[string]string{"": digest(backend.RawOf(main, objects))}
}

// lockedIn returns the digests of the locked values of an instance, as Definition.Locked has them, and refuses what may set
// one and cannot be compared.
func lockedIn(b instance.Built, objects []backend.Object) (map[string]string, []error) {
	locked, paths := LockedIn(backend.MainOf(objects), objects), b.Decision.Application.Metadata.LockedIn(b.Resolved.Resolved)
	if len(paths) == 0 {
		return locked, nil // reading the values takes time
	}
	values, err := backend.EffectiveOf(backend.MainOf(objects), objects)
	if err != nil {
		return nil, []error{&backend.Error{Instance: b.Name, Path: "values", Message: fmt.Sprintf(
			"cannot be read, so that those which the application locks cannot be compared: %v", err)}}
	}
	var errs []error
	for _, text := range paths {
		path, err := metadata.ParseValuePath(text)
		if err != nil {
			continue // no catalog with it is loaded
		}
		locked[text] = digestAt(values.Values, path)
		if from, found := values.Setter(path); found {
			errs = append(errs, &backend.Error{Instance: b.Name, Path: "valuesFrom", Message: fmt.Sprintf(
				"the %s %s may set the value %s, which the application locks, and Winnow does not read it: set the value in values",
				from.Kind, excerpt.Quoted(from.Name), excerpt.Quoted(text))})
		}
	}
	return locked, errs
}

// digestAt returns the digest of the value at a path, empty where there is none. What stands above the path in place of a
// mapping counts as its value.
func digestAt(values map[string]any, path metadata.ValuePath) string {
	var at any = values
	depth := 0
	for ; depth < len(path); depth++ {
		mapping, isMapping := at.(map[string]any)
		if !isMapping {
			break
		}
		if at, isMapping = mapping[path[depth]]; !isMapping {
			return ""
		}
	}
	return digest([]any{depth, at})
}

func digest(of []any) string {
	encoded, err := json.Marshal(of)
	if err != nil {
		return ""
	}
	const size = 8 // a record has many
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:size])
}

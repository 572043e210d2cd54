// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/definition"
	"github.com/winnow-dev/winnow/render/dialect"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/value"
)

// Settings are the fields of a definition, besides its versions, that admins edit and a publication replaces.
type Settings struct {
	// DefaultVersion is spec.defaultVersion, or empty.
	DefaultVersion string
	// field is the field of the spec with the default values, or empty; whole is its text.
	field, whole string
	// values are nil where there are none, or where they cannot be parsed, for example because of Go
	// templates.
	values map[string]any
}

// SettingsOf reads an object in the types that JSON and kustomize have.
func SettingsOf(object map[string]any) Settings {
	spec := value.Of(object).Get("spec")
	s := Settings{DefaultVersion: definition.DefaultVersion(spec)}
	if s.field, s.whole = definition.ValuesText(spec); s.field != "" {
		// Values stay nil where they cannot be parsed. A mapping is parsed, too, so that its numbers get the types of a block.
		if content, err := dialect.ValuesJSON([]byte(s.whole)); err == nil {
			_ = utiljson.Unmarshal(content, &s.values)
		}
	}
	return s
}

// replacements compares the settings of live definitions with the objects that a publication applies over them. Definitions
// that a Kustomization gives another name are left out.
func replacements(ctx context.Context, result *render.Result, live map[safeguard.Key]Settings) (map[safeguard.Key]Replaced, error) {
	var names []string
	for key := range live {
		names = append(names, key.Name)
	}
	if len(names) == 0 {
		return nil, nil
	}
	slices.Sort(names)
	objects, err := result.Objects(ctx, names)
	if err != nil {
		return nil, err
	}
	replaced := map[safeguard.Key]Replaced{}
	for key, before := range live {
		if objects[key] != nil {
			replaced[key] = SettingsOf(objects[key]).Replaces(before)
		}
	}
	return replaced, nil
}

// Replaced are the settings of a live definition that a publication replaces. Fields that the artifact
// does not set stay as they are, and are not among them.
type Replaced struct {
	// DefaultVersion and NewDefaultVersion differ, or are both empty.
	DefaultVersion, NewDefaultVersion string
	// Values is true if the default values differ. Paths are the paths that differ, empty if the values cannot
	// be parsed.
	Values bool
	Paths  []string
	// Keep are the live values at these paths, which overrides with them would keep. They may be secret.
	// Values that only the artifact sets are not in it: an override cannot remove them.
	Keep map[string]any
}

// Replaces returns the live settings that the settings of the artifact replace.
func (s Settings) Replaces(live Settings) Replaced {
	var r Replaced
	if live.DefaultVersion != "" && s.DefaultVersion != "" && live.DefaultVersion != s.DefaultVersion {
		r.DefaultVersion, r.NewDefaultVersion = live.DefaultVersion, s.DefaultVersion
	}
	switch {
	case live.field == "" || s.field == "" || live.whole == s.whole:
	case live.values == nil || s.values == nil:
		r.Values = true
	default:
		r.Paths, r.Keep = differing(nil, live.values, s.values)
		r.Values = len(r.Paths) > 0
	}
	return r
}

// Nothing reports whether no setting is replaced.
func (r Replaced) Nothing() bool { return r.DefaultVersion == "" && !r.Values }

// maxPaths bounds the paths that a message lists.
const maxPaths = 10

// String describes the settings that are replaced, without values except versions; empty if there are none.
func (r Replaced) String() string {
	var parts []string
	if r.DefaultVersion != "" {
		parts = append(parts, fmt.Sprintf("its defaultVersion %s would become %s", excerpt.Of(r.DefaultVersion), excerpt.Of(r.NewDefaultVersion)))
	}
	switch {
	case len(r.Paths) > 0:
		parts = append(parts, "its default values differ in "+excerpt.List(r.Paths, maxPaths, excerpt.Of))
	case r.Values:
		parts = append(parts, "its default values differ, and cannot be compared by field")
	}
	return strings.Join(parts, "; ")
}

// plainKey matches keys that need no quotes in a path.
var plainKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// differing returns the paths at which two mappings differ, sorted, and the values of the older one at
// these paths. Lists are compared as a whole.
func differing(above []string, older, newer map[string]any) (paths []string, keep map[string]any) {
	both := maps.Clone(older)
	maps.Copy(both, newer)
	keep = map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(both)) {
		was, had := older[key]
		is, has := newer[key]
		name := key
		if !plainKey.MatchString(key) {
			name = fmt.Sprintf("[%q]", key)
		}
		path := append(slices.Clone(above), name)
		from, isMapping := was.(map[string]any)
		to, staysMapping := is.(map[string]any)
		switch {
		case isMapping && staysMapping:
			below, kept := differing(path, from, to)
			paths = append(paths, below...)
			if len(kept) > 0 {
				keep[key] = kept
			}
		case had != has || !reflect.DeepEqual(was, is):
			paths = append(paths, strings.Join(path, "."))
			if had {
				keep[key] = was
			}
		}
	}
	return paths, keep
}

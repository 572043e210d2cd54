// SPDX-License-Identifier: Apache-2.0

package diff

import (
	"fmt"
	"slices"

	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Settings are the fields of a live definition, besides its versions, that admins edit and that the
// publication replaces.
type Settings struct {
	// Application is the metadata.name.
	Application string `json:"application"`
	// DefaultVersion is the change of spec.defaultVersion; nil when it stays.
	DefaultVersion *Field `json:"defaultVersion,omitempty"`
	// DefaultValues is true if the default values differ. ValuesPaths are the paths that differ; empty if
	// the values cannot be parsed.
	DefaultValues bool     `json:"defaultValues"`
	ValuesPaths   []string `json:"valuesPaths"`
	// OmitFields are fields that only spec.omitFields keeps.
	OmitFields []string `json:"omitFields,omitempty"`
}

// kept are the members of a spec that keep live settings.
type kept struct {
	Values  []map[string]any `json:"values,omitempty"`
	Patches []map[string]any `json:"patches,omitempty"`
}

// settings returns the replaced settings of one definition, and adds the members that keep them.
func (k *kept) settings(d safeguard.Definition, r guard.Replaced) Settings {
	s := Settings{Application: d.Name, DefaultValues: r.Values, ValuesPaths: append([]string{}, r.Paths...)}
	switch {
	case len(r.Keep) > 0:
		k.Values = append(k.Values, map[string]any{"names": []string{d.Name}, "overrides": r.Keep})
	case r.Values && len(r.Paths) == 0:
		s.OmitFields = append(s.OmitFields, "defaultValuesBlock")
	}
	if r.DefaultVersion == "" {
		return s
	}
	s.DefaultVersion = &Field{Path: "spec.defaultVersion", From: JSON(r.DefaultVersion), To: JSON(r.NewDefaultVersion)}
	// KKP refuses a default that is not among the versions.
	if slices.Contains(d.Versions, r.DefaultVersion) {
		k.Patches = append(k.Patches, map[string]any{
			"target": map[string]any{"kind": d.Kind, "name": d.Name},
			"patch":  fmt.Sprintf("- {op: replace, path: /spec/defaultVersion, value: %q}\n", r.DefaultVersion),
		})
	} else {
		s.OmitFields = append(s.OmitFields, "defaultVersion")
	}
	return s
}

// Loosened is a protection that an edit of the spec removes.
type Loosened struct {
	// Field of the CatalogSelection, and its values with the defaults filled in.
	Field string `json:"field"`
	From  string `json:"from"`
	To    string `json:"to"`
	// Effect describes the possible consequence.
	Effect string `json:"effect"`
}

// SPDX-License-Identifier: Apache-2.0

package diff

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/winnow-dev/winnow/render/excerpt"
)

// Change is the kind of a change.
type Change string

// Changes. Replaced is a version that stays, with another entry in spec.versions.
const (
	Added   Change = "added"
	Removed Change = "removed"
	Updated Change = "updated"
	// Unresolved is an instance that neither state installs.
	Unresolved Change = "unresolved"
	Replaced   Change = "replaced"
	Unchanged  Change = "unchanged"
)

// Cause is the cause of a loss.
type Cause string

// Causes, which the safeguards do not know. CausePlatform is the cause where
// spec.platform drops the version, or all versions of the application. CauseAdoption is the cause where only a
// live definition has the version, and CausePromotion where another artifact is named, which may have any.
const (
	CauseCatalog  Cause = "catalog"
	CauseSpec     Cause = "spec"
	CausePlatform Cause = "platform"
	CauseAdoption Cause = "adoption"

	CausePromotion Cause = "promotion"
)

// Field is a change of one field. From and To are JSON, cut when long; empty where the field does not
// exist.
type Field struct {
	Path string `json:"path"`
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
}

// IsLogo reports whether a field has a logo: spec.logo of KKP, spec.dashboard.icon of Cozystack.
func IsLogo(key string) bool { return key == "logo" || key == "icon" }

// IsLogo reports whether the field is a logo.
func (f Field) IsLogo() bool { return IsLogo(f.Path[strings.LastIndexByte(f.Path, '.')+1:]) }

// MaxField bounds a value in bytes.
const MaxField = 200

// JSON returns a value as JSON, cut to maxField bytes, with its length if it was cut.
func JSON(value any) string {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return fmt.Sprintf("%q", fmt.Sprint(value)) // NaN and the like
	}
	encoded := strings.TrimSuffix(text.String(), "\n")
	if len(encoded) <= MaxField {
		return encoded
	}
	return fmt.Sprintf("%s (%d bytes)", excerpt.To(encoded, MaxField), len(encoded))
}

// Values is a change of default values.
type Values struct {
	// Field is the field of the spec with the values; of removed values, the former one.
	Field string `json:"field"`
	// Added and Removed count lines.
	Added   int `json:"added"`
	Removed int `json:"removed"`
	// Diff is in the unified format without its header, and Omitted the number of lines that were cut.
	Diff    string `json:"diff"`
	Omitted int    `json:"omitted,omitempty"`
	// Where identifies all changed lines with the keys that they are below.
	Where string `json:"-"`
}

// Cut cuts the diff, which may be nil, to at most limit bytes, after a whole line.
func (v *Values) Cut(limit int) {
	if v == nil || len(v.Diff) <= limit {
		return
	}
	end := strings.LastIndexByte(v.Diff[:limit], '\n') + 1
	v.Omitted += strings.Count(v.Diff[end:], "\n")
	v.Diff = v.Diff[:end]
}

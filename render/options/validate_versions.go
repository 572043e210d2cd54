// SPDX-License-Identifier: Apache-2.0

package options

import (
	"fmt"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// Bounds of channels in a rule for versions, as the API has them.
const (
	maxRuleChannels = 64
	maxChannel      = 63
)

// validateVersions checks the members of spec.versions that NewVersionRule does not.
func validateVersions(rules []v1alpha1.VersionRule, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, rule := range rules {
		channels, deprecated := path.Index(i).Child("channels"), path.Index(i).Child("deprecated")
		switch rule.Deprecated {
		case "", v1alpha1.DeprecatedKeep, v1alpha1.DeprecatedDrop:
		default:
			errs = append(errs, field.NotSupported(deprecated, rule.Deprecated, []string{v1alpha1.DeprecatedKeep, v1alpha1.DeprecatedDrop}))
		}
		if rule.Channels != nil && len(rule.Channels) == 0 {
			errs = append(errs, field.Required(channels, "leave it out, or list at least one"))
		}
		if n := len(rule.Channels); n > maxRuleChannels {
			errs = append(errs, field.TooMany(channels, n, maxRuleChannels))
			continue
		}
		for j, channel := range rule.Channels {
			if n := utf8.RuneCountInString(channel); n == 0 || n > maxChannel {
				errs = append(errs, field.Invalid(channels.Index(j), channel, fmt.Sprintf("must have 1 to %d characters", maxChannel)))
			}
		}
	}
	return errs
}

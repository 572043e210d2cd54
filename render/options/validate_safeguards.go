// SPDX-License-Identifier: Apache-2.0

package options

import (
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// approvalPattern matches a checksum as in a revision, with an optional note that distinguishes entries.
var approvalPattern = regexp.MustCompile(`^[a-z0-9]+:[a-f0-9]{32,128}(#[A-Za-z0-9][A-Za-z0-9._-]{0,62})?$`)

func validateSafeguards(spec v1alpha1.CatalogSelectionSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	oneOf := func(path *field.Path, value string, known ...string) {
		if value != "" && !slices.Contains(known, value) {
			errs = append(errs, field.NotSupported(path, value, known))
		}
	}
	guards, cluster := path.Child("safeguards"), path.Child("cluster")
	for name, value := range map[string]string{
		"onEmpty": spec.Safeguards.OnEmpty, "onRemoval": spec.Safeguards.OnRemoval,
		"onVersionRemoval": spec.Safeguards.OnVersionRemoval, "onMajorUpgrade": spec.Safeguards.OnMajorUpgrade,
		"onIdentityChange": spec.Safeguards.OnIdentityChange, "onSourceChange": spec.Safeguards.OnSourceChange,
	} {
		oneOf(guards.Child(name), value, v1alpha1.SafeguardHold, v1alpha1.SafeguardPublish)
	}
	oneOf(guards.Child("onInstanceUpgrade"), spec.Safeguards.OnInstanceUpgrade,
		v1alpha1.SafeguardHoldMajor, v1alpha1.SafeguardHold, v1alpha1.SafeguardPublish)
	oneOf(path.Child("definitions"), spec.Definitions, v1alpha1.DefinitionsPublish, v1alpha1.DefinitionsOmit)
	for i, sum := range spec.Safeguards.Approve {
		if !approvalPattern.MatchString(sum) {
			errs = append(errs, field.Invalid(guards.Child("approve").Index(i), sum,
				"must be a checksum, such as sha256:<64 hexadecimal digits>, or <checksum>#<note> with a note of letters, digits, ., _ and -"))
		}
	}
	oneOf(cluster.Child("bypass"), spec.Cluster.Bypass, v1alpha1.BypassHonor, v1alpha1.BypassIgnore)
	oneOf(cluster.Child("serve"), spec.Cluster.Serve, v1alpha1.ServeCompared, v1alpha1.ServeAlways)
	oneOf(cluster.Child("unmanaged"), spec.Cluster.Unmanaged, v1alpha1.UnmanagedIgnore, v1alpha1.UnmanagedLabelled)
	slices.SortFunc(errs, func(a, b *field.Error) int { return strings.Compare(a.Field, b.Field) })
	return errs
}

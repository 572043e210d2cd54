// SPDX-License-Identifier: Apache-2.0

package installation

import (
	"fmt"
	"strings"

	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/refusal"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// DistinctReleases refuses a second owner of a release: both would upgrade it in turns.
func DistinctReleases(instances []Instance) error {
	owners := map[safeguard.Key]string{}
	var errs []error
	for _, in := range instances {
		if other := byOtherOLM(in, instances); other != "" {
			errs = append(errs, &backend.Error{Instance: in.Name, Path: "application", Message: fmt.Sprintf(
				"the package %s also belongs to the instance %s, which has another backend: OLM v0 and OLM v1 cannot both run it, so leave one of them out",
				excerpt.Quoted(in.Main.Identity[safeguard.PackageField]), excerpt.Quoted(other))})
		}
		for _, release := range in.Main.Releases() {
			other, taken := owners[release]
			if owners[release] = in.Name; taken {
				errs = append(errs, secondOwner(in, release, other))
				break
			}
		}
	}
	return refusal.OfSpec("spec.instances", errs)
}

// byOtherOLM returns the instance by which the other version of OLM gets the package of an instance of OLM v0; empty
// without one.
func byOtherOLM(in Instance, instances []Instance) string {
	name := in.Main.Identity[safeguard.PackageField]
	if name == "" || in.Main.Kind != backend.Subscription {
		return ""
	}
	other, _ := each.First(instances, func(other Instance) bool {
		return other.Main.Identity[safeguard.PackageField] == name && other.Main.Kind != in.Main.Kind
	})
	return other.Name
}

func secondOwner(in Instance, release safeguard.Key, other string) error {
	path, advice := safeguard.ReleaseField, "set another releaseName"
	if in.Main.Identity[safeguard.PackageField] != "" {
		path, advice = "application", "OLM installs a package once, so leave one of them out"
	}
	return &backend.Error{Instance: in.Name, Path: path, Message: fmt.Sprintf("the %s %s also belongs to the instance %s: %s",
		strings.ToLower(release.Kind), excerpt.Quoted(release.FullName()), excerpt.Quoted(other), advice)}
}

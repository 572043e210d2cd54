// SPDX-License-Identifier: Apache-2.0

package fetching

import (
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/selection/numbered"
)

// maxConstraint bounds a version that is wanted, in bytes.
const maxConstraint = 256

// versions are the versions of a chart in a repository.
type versions struct {
	places map[string]int
	// sorted have the highest first, and byNumber the first of each number, without its build metadata.
	sorted   []numbered.Version
	byNumber map[string]int
}

func newVersions(texts []string) versions {
	v := versions{places: map[string]int{}, byNumber: map[string]int{}}
	for i, text := range slices.Backward(texts) {
		v.places[text] = i // the first one of a text
	}
	v.sorted = slices.DeleteFunc(numbered.Of(texts), func(one numbered.Version) bool { return one.Parsed == nil })
	slices.SortStableFunc(v.sorted, numbered.Descending)
	for _, one := range slices.Backward(v.sorted) {
		v.byNumber[withoutBuild(one.Parsed)] = v.places[one.Text] // the first one of a number
	}
	return v
}

// find returns the place of the version that Helm takes: the one that is written so, or else the highest that it allows as a
// constraint, where 1.2 is any 1.2.x, and 2.0.0 is 2.0.0+b1; -1 without one.
func (v versions) find(wanted string) (int, error) {
	constraint, err := newConstraint(wanted)
	if err != nil {
		return -1, err
	}
	if place, ok := v.places[wanted]; ok {
		return place, nil
	}
	if number, err := semver.StrictNewVersion(strings.TrimPrefix(wanted, "v")); err == nil {
		if place, ok := v.byNumber[withoutBuild(number)]; ok {
			return place, nil
		}
		return -1, nil
	}
	for _, one := range v.sorted {
		if constraint.Check(one.Parsed) {
			return v.places[one.Text], nil
		}
	}
	return -1, nil
}

// newConstraint returns what Helm reads a version as.
func newConstraint(wanted string) (*semver.Constraints, error) {
	if len(wanted) <= maxConstraint {
		if constraint, err := semver.NewConstraint(wanted); err == nil {
			return constraint, nil
		}
	}
	return nil, fmt.Errorf("%s is neither a version nor a range, and Helm refuses it", excerpt.Quoted(wanted))
}

// withoutBuild returns a version as a text without its build metadata, which Helm does not compare.
func withoutBuild(v *semver.Version) string {
	return fmt.Sprintf("%d.%d.%d-%s", v.Major(), v.Minor(), v.Patch(), v.Prerelease())
}

// checkTag refuses what Helm takes for no version of a registry. Of a range it lists the tags.
func checkTag(wanted string) error {
	if _, err := semver.NewVersion(wanted); err == nil {
		return nil
	}
	if _, err := newConstraint(wanted); err != nil {
		return err
	}
	return fmt.Errorf("%s is a range, for which the tags of a registry are not listed: name one version", excerpt.Quoted(wanted))
}

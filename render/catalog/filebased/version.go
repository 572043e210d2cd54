// SPDX-License-Identifier: Apache-2.0

package filebased

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
)

// maxRelease bounds a release in characters, as OLM does.
const maxRelease = 20

// Version of a bundle: a semantic version as OLM reads it, and the release behind it, where a bundle has one.
type Version struct {
	semver  semver.Version
	release []semver.PRVersion
}

func parseVersion(text string) (Version, error) {
	if len(text) > maxVersion {
		return Version{}, fmt.Errorf("is longer than %d bytes", maxVersion)
	}
	parsed, err := semver.Parse(text)
	return Version{semver: parsed}, err
}

func parseRelease(text string) ([]semver.PRVersion, error) {
	if text == "" {
		return nil, nil
	}
	if len(text) > maxRelease {
		return nil, fmt.Errorf("is longer than %d characters", maxRelease)
	}
	var release []semver.PRVersion
	for part := range strings.SplitSeq(text, ".") {
		parsed, err := semver.NewPRVersion(part)
		if err != nil {
			return nil, fmt.Errorf("is not a release: %w", err)
		}
		release = append(release, parsed)
	}
	return release, nil
}

// String returns the version, with the release behind a hyphen. No two bundles of a package may share it.
func (v Version) String() string {
	text, separator := v.semver.String(), "-"
	for _, part := range v.release {
		text, separator = text+separator+part.String(), "."
	}
	return text
}

// Semver returns the version without the release, with its build metadata.
func (v Version) Semver() string { return v.semver.String() }

// Compare orders versions as OLM does: by semantic version, then by release, which is more than none. What is
// still equal differs in the build metadata, which bundles without a release use as one.
func (v Version) Compare(other Version) int {
	if order := v.semver.Compare(other.semver); order != 0 {
		return order
	}
	if order := cmp.Compare(min(len(v.release), 1), min(len(other.release), 1)); order != 0 {
		return order
	}
	left, right := semver.Version{Pre: v.release}, semver.Version{Pre: other.release}
	return cmp.Or(left.Compare(right), compareBuild(v.semver.Build, other.semver.Build))
}

// compareBuild orders build metadata as releases: numbers by value and below texts, part by part.
func compareBuild(left, right []string) int {
	return slices.CompareFunc(left, right, func(a, b string) int {
		x, xErr := semver.NewPRVersion(a)
		y, yErr := semver.NewPRVersion(b)
		if xErr != nil || yErr != nil { // 007 is build metadata, but no part of a release
			return cmp.Compare(a, b)
		}
		return x.Compare(y)
	})
}

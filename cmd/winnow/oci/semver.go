// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/winnow-dev/winnow/render/bounded"
)

// maxTags of a repository are compared.
const maxTags = 100_000

// errTags ends the listing of too many tags.
var errTags = fmt.Errorf("the repository has more than %d tags", maxTags)

// Highest returns the highest tag that is a semantic version in the range, as Flux resolves ref.semver. A leading v
// is accepted, and all three numbers are required: v1 and 1.2 are no versions. filter is the regular expression of
// ref.semverFilter; empty matches all tags.
func (r *Repository) Highest(ctx context.Context, constraint, filter string) (string, error) {
	wanted, err := semver.NewConstraint(constraint)
	if err != nil {
		return "", fmt.Errorf("parsing the range %q: %w", constraint, err)
	}
	matches, err := bounded.Compile(filter)
	if err != nil {
		return "", fmt.Errorf("parsing the filter: %w", err)
	}
	var highest *semver.Version
	number := 0
	err = r.remote.Tags(ctx, "", func(tags []string) error {
		if number += len(tags); number > maxTags {
			return errTags
		}
		for _, tag := range tags {
			version, err := semver.StrictNewVersion(strings.TrimPrefix(tag, "v"))
			if err != nil || !matches.MatchString(tag) || !wanted.Check(version) || highest != nil && !version.GreaterThan(highest) {
				continue
			}
			// Original is the tag.
			if highest, err = semver.NewVersion(tag); err != nil {
				return err
			}
		}
		return nil
	})
	switch {
	case errors.Is(err, errTags):
		return "", err
	case err != nil:
		return "", fmt.Errorf("listing the tags: %w", r.advise(err))
	case highest == nil:
		return "", fmt.Errorf("no tag is a version in the range %q", constraint)
	}
	return highest.Original(), nil
}

// SPDX-License-Identifier: Apache-2.0

package receipt

import (
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/winnow-dev/winnow/render/excerpt"
)

// VersionOf returns the versions in the revisions of the sources that an artifact was rendered from: tags such as "v1.1.1", or
// "main@9f3e12a" of what is no version; "catalog v1.1.1, extras v2.0.0" of several sources. Empty where there are none.
func VersionOf(origin string) string {
	var parts []string
	for one := range strings.SplitSeq(origin, ",") {
		source, revision, several := strings.Cut(one, "=")
		if !several {
			source, revision = "", one
		}
		source = source[strings.LastIndexByte(source, '/')+1:]
		parts = append(parts, strings.TrimSpace(source+" "+versionOf(revision)))
	}
	return excerpt.To(strings.Join(parts, ", "), maxText)
}

// versionOf returns the version of TAG@ALGORITHM:HASH.
func versionOf(revision string) string {
	const shown = 7
	tag, digest, _ := strings.Cut(revision, "@")
	if _, err := semver.StrictNewVersion(strings.TrimPrefix(tag, "v")); err == nil || digest == "" {
		return tag
	}
	hash := digest[strings.LastIndexByte(digest, ':')+1:]
	return tag + "@" + hash[:min(len(hash), shown)]
}

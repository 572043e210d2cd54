// SPDX-License-Identifier: Apache-2.0

package functions

import (
	"regexp"
	"strings"
)

// HTTPS begins the address of a catalog on a web server.
const HTTPS = "https://"

// digestedPattern is the address of a file on a web server with the digest of its content.
var digestedPattern = regexp.MustCompile(`^(https://.+)@sha256:([a-f0-9]{64})$`)

// SplitDigest splits https://host/path@sha256:digest into the address and the digest in hexadecimal digits. The digest is
// empty for an address without one.
func SplitDigest(reference string) (address, digest string) {
	if parts := digestedPattern.FindStringSubmatch(reference); parts != nil {
		return parts[1], parts[2]
	}
	return reference, ""
}

// isAbsolute reports whether a reference is an address, and not a path.
func isAbsolute(reference string) bool {
	return strings.HasPrefix(reference, "oci://") || strings.HasPrefix(reference, HTTPS)
}

// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/winnow-dev/winnow/render/backend/kinds"
)

// IsReplaceable reports whether a name belongs to a source or to default values, and so has a digest of the content.
// If such an object is gone, another one has replaced it.
func IsReplaceable(group, kind, name string) bool {
	switch (schema.GroupKind{Group: group, Kind: kind}) {
	case kinds.OCIRepository.GroupKind(), kinds.HelmRepository.GroupKind():
		return replaceablePattern.MatchString(name)
	case kinds.ConfigMap.GroupKind():
		return replaceablePattern.MatchString(name) && strings.Contains(name, DefaultsInfix)
	}
	return false
}

// Digest returns a short digest of texts, for a name that changes with them.
func Digest(parts ...string) string {
	const length = 10
	encoded, _ := json.Marshal(parts) // strings cannot fail
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:])[:length]
}

// DefaultsInfix stands between the name of an instance and the digest of its default values.
const DefaultsInfix = "-defaults-"

var replaceablePattern = regexp.MustCompile(`-[0-9a-f]{10}$`)

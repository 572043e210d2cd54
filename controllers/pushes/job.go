// SPDX-License-Identifier: Apache-2.0

package pushes

import (
	"time"

	"github.com/opencontainers/go-digest"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/registries"
)

// pushJob describes the artifact that a registry should have, and the access to the registry.
type pushJob struct {
	uid    types.UID
	access registries.Access
	tags   []string
	// image is true if the packages of the artifact are pushed as an image, and not the artifact.
	image bool
	// file is the path of the archive, and digest the digest of its content.
	file, digest string
	// Annotations of the manifest: the revision of the artifact, the revisions of the sources, and
	// namespace/name of the selection.
	revision, sources, selection string
	// compared are the revisions in the history of the artifact, whose changes the safeguards have compared.
	// The safeguards are applied to a tagged artifact of another revision, unless approved is true.
	compared []string
	// last is the digest of the last push, if its revision is one of them.
	last       digest.Digest
	safeguards v1alpha1.Safeguards
	approved   bool
	// interval is the time until the registry is checked again.
	interval time.Duration
}

// pushTimeout bounds a push: a registry that hangs must not keep its turn.
const pushTimeout = 2 * time.Minute

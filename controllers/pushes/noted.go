// SPDX-License-Identifier: Apache-2.0

package pushes

import (
	"slices"
	"sync"

	"github.com/opencontainers/go-digest"
	"k8s.io/apimachinery/pkg/types"
)

// noted maps the digests of pushed manifests to the revisions of the artifact, by selection. The manifest of a served image
// does not have its revision, and the status has only the revision of the last push. The zero value is empty.
type noted struct {
	mu        sync.Mutex
	revisions map[types.NamespacedName]map[digest.Digest]string
}

// note records the revision of a manifest, before a tag names it. It drops those that are not in the history of the
// artifact any more.
func (n *noted) note(key types.NamespacedName, job pushJob, manifest digest.Digest) {
	n.mu.Lock()
	defer n.mu.Unlock()
	revisions := map[digest.Digest]string{manifest: job.revision}
	for known, revision := range n.revisions[key] {
		if slices.Contains(job.compared, revision) {
			revisions[known] = revision
		}
	}
	if n.revisions == nil {
		n.revisions = map[types.NamespacedName]map[digest.Digest]string{}
	}
	n.revisions[key] = revisions
}

// revisionOf returns the revision of a manifest that this process has pushed for the selection, or an empty string.
func (n *noted) revisionOf(key types.NamespacedName, manifest digest.Digest) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.revisions[key][manifest]
}

func (n *noted) forget(key types.NamespacedName) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.revisions, key)
}

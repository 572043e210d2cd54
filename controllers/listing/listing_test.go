// SPDX-License-Identifier: Apache-2.0

package listing

import (
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

func TestTheRevisionOfTheFirstSourceIsShort(t *testing.T) {
	sum := strings.Repeat("0123456789", 4)
	for _, test := range []struct{ kind, revision, want string }{
		{"OCIRepository", "v1.2.0@sha256:" + sum, "v1.2.0"},
		{"OCIRepository", "sha256:" + sum, "sha256:012345678901"},
		{"GitRepository", "main@sha1:" + sum, "main@sha1:012345678901"},
		{"ExternalArtifact", "latest@sha256:" + sum, "latest@sha256:012345678901"},
		{"Bucket", "sha256:" + sum, "sha256:012345678901"},
		{"Bucket", "x", "x"},
	} {
		if got := sourceRevision(v1alpha1.SourceStatus{Kind: test.kind, Revision: test.revision}); got != test.want {
			t.Errorf("of %s %s it is %q, want %q", test.kind, test.revision, got, test.want)
		}
	}
}

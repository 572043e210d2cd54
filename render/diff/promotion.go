// SPDX-License-Identifier: Apache-2.0

package diff

import "github.com/winnow-dev/winnow/render/guard"

// Promotion is the change of the digest in an OCIRepository, whose rendered artifacts are compared.
type Promotion struct {
	// From and To are the addresses of the artifacts; From is empty where no digest was there before, and To where none is
	// there any more.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	// Annotation is the one of the OCIRepository that approves what is held.
	Annotation string `json:"annotation"`
}

// ApprovesDigest reports whether a value of the annotation approves the digest: <digest> or <digest>#<note>.
func ApprovesDigest(value, digest string) bool { return guard.Approves([]string{value}, digest) }

// DigestApproval returns the value of the annotation that approves the digest, and is none of those that were used before.
func DigestApproval(digest string, used []string) string {
	return guard.Approval{Render: digest}.Entry(used)
}

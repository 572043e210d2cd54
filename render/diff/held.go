// SPDX-License-Identifier: Apache-2.0

package diff

import (
	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/guard"
)

// Held are the changes that the safeguards hold.
type Held struct {
	// Reasons are those of status.held.
	Reasons []v1alpha1.HeldReason `json:"reasons"`
	// Approved is true if the selection approves all of them: then they are published.
	Approved bool `json:"approved"`
	// Approve are the lines to add to spec.safeguards.approve.
	Approve []string `json:"approve"`
	// Render is the checksum of the newer artifact. Approving it alone is enough; absent where no approval
	// is possible.
	Render string `json:"render,omitempty"`
	// BaseApprovals are entries of spec.safeguards.approve that name checksums to approve, but that the
	// older state has already: they are used up, or were reviewed with another change.
	BaseApprovals []string `json:"baseApprovals"`
	// SecondSources keep what is held without an approval, as far as the older revisions of sources can be
	// pinned.
	SecondSources []SecondSource `json:"secondSources,omitempty"`
	// File is the file of Git that takes the approval: that of the selection, where all that is built of it needs the same,
	// or else a patch of the selection. Empty where there is none, and Advice says why.
	File string `json:"file,omitempty"`
	// Kustomization is the kustomization.yaml that has to name File as a patch, where this file is new.
	Kustomization string `json:"kustomization,omitempty"`
	// PatchNamespace is the namespace of the selection in a new File; empty if its own file has none.
	PatchNamespace string `json:"-"`
	// Repeat are the approvals of the base that File has to repeat: its list replaces that of the base.
	Repeat []string `json:"repeat,omitempty"`
	// Advice is a sentence on the place of the approval.
	Advice string `json:"advice,omitempty"`
}

// NamesRender reports whether an entry of spec.safeguards.approve names the render, and not a source.
func (h *Held) NamesRender(entry string) bool {
	return guard.Approved(entry) == h.Render
}

// SecondSource is a source to add behind the others: the older revision of one of them, pinned, keeps what the
// newer one takes away, so that nothing has to be approved.
type SecondSource struct {
	// Namespace and Name of the OCIRepository to copy.
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Digest of the older manifest, for spec.ref.digest of the copy.
	Digest string `json:"digest"`
	// Reference is the source to add.
	Reference v1alpha1.SourceReference `json:"reference"`
	// Applications that it keeps, or versions of them, sorted.
	Applications []string `json:"applications"`
}

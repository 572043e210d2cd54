// SPDX-License-Identifier: Apache-2.0

package diff

import (
	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/yamledit"
)

// Held are the losses that Git has to name.
type Held struct {
	// Reasons of status.held, with the lines that name each; of what is approved as well.
	Reasons []v1alpha1.HeldReason `json:"reasons"`
	// Approved is true if lines that this change adds name all of them: then they are published.
	Approved bool `json:"approved"`
	// Approve are the lines to add to spec.safeguards.approve. They are new: no line of either state has their number.
	Approve []string `json:"approve"`
	// BaseApprovals are the lines of the older state that name what is left: they may be used, or too old, or were reviewed
	// with another change.
	BaseApprovals []string `json:"baseApprovals"`
	// SecondSources keep what is held without an approval, as far as the older revisions of sources can be
	// pinned.
	SecondSources []SecondSource `json:"secondSources,omitempty"`
	// File is the file of Git that takes the lines: the file of the selection, or a kustomization.yaml.
	// Empty where there is none, and Advice says why.
	File string `json:"file,omitempty"`
	// Patch is the item of patches in YAML that a kustomization.yaml takes; empty for another file.
	Patch string `json:"patch,omitempty"`
	// Advice is a sentence on the place of the lines.
	Advice string `json:"advice,omitempty"`
}

// YAML returns the first of the lines to add, which are some, as YAML of the CatalogSelection, of the kustomization.yaml that
// patches it, or of the OCIRepository of a promotion, which is nil for the former. A comment counts the lines beyond most.
func (h *Held) YAML(of *Promotion, most int) string {
	if h.Patch != "" && len(h.Approve) <= most {
		return "patches:\n" + h.Patch
	}
	lines := h.Approve[:min(len(h.Approve), most)]
	text := "spec:\n  safeguards:\n    approve:\n"
	if of != nil {
		text = "metadata:\n  annotations:\n    " + of.Annotation + ": " + yamledit.Scalar(lines, 6) + "\n"
		lines = nil
	}
	for _, line := range lines {
		text += "    - " + yamledit.Scalar([]string{line}, 0) + "\n"
	}
	if more := len(h.Approve) - most; more > 0 {
		text += "# " + excerpt.More(more) + ", which winnow approve --git adds\n"
	}
	return text
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

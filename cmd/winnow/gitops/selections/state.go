// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"slices"

	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/render/diff/comparing"
)

// State is a CatalogSelection in a commit, with its inputs by digest, and what it publishes or why that is not known.
type State struct {
	documents.Selection
	// Sources are the objects that its sources name, for Look alone, and References the catalogs of these, both in the order of
	// the spec. One that is not known is empty.
	Sources    []documents.Source
	References []documents.Reference
	// Open are sentences on inputs that are not known: then it is not rendered.
	Open []string
	// Side is what it publishes, shared with other selections of the same spec and catalogs. Err is why it is not rendered: it is
	// invalid, or a catalog cannot be pulled; for Look also that it is empty.
	Side *comparing.Side
	Err  error
}

// stateOf resolves the sources of a selection. It returns nil for a nil selection.
func stateOf(commit *documents.Set, cs *documents.Selection) *State {
	if cs == nil {
		return nil
	}
	references, unknown := commit.Resolve(*cs)
	return &State{Selection: *cs, References: references, Open: slices.Concat(cs.Unknown, unknown), Err: cs.Invalid}
}

// side returns what it publishes; nil for nil.
func (s *State) side() *comparing.Side {
	if s == nil {
		return nil
	}
	return s.Side
}

// Unread returns why it is not known what the selection publishes; nothing where it is known.
func (s *State) Unread() []string {
	if s.Err == nil {
		return s.Open
	}
	return append(slices.Clip(s.Open), s.Err.Error())
}

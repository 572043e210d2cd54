// SPDX-License-Identifier: Apache-2.0

package diff

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/render/each"
)

// EffectOn returns the effect of the change on the selection.
func (s *Selection) EffectOn() Effect {
	switch {
	case s.IsHeld():
		return EffectHeld
	case s.Error != "" || len(s.Unknown) > 0:
		return EffectUnknown
	case len(s.Loosened) > 0:
		return EffectLoosened
	case s.Change != Unchanged || s.hasFindings():
		return EffectChanged
	}
	return EffectUnchanged
}

// hasFindings reports whether there is something to read about a selection whose artifact stays.
func (s *Selection) hasFindings() bool {
	return len(s.Applications)+len(s.Instances)+len(s.Charts)+len(s.Served)+len(s.Lists)+len(s.Moves)+len(s.Bypassed)+len(s.Replaced)+len(s.Notes) > 0 ||
		s.Held != nil || s.Keep != ""
}

// Classified returns the selections in classes, those with decisions first.
func (r *Report) Classified() []Class {
	classes := []Class{}
	for _, members := range each.Group(r.Selections, (*Selection).effectKey) {
		classes = append(classes, Class{members[0].EffectOn(), each.Map(members, (*Selection).Place), members})
	}
	classes = withSame(classes, r.Same)
	slices.SortStableFunc(classes, func(a, b Class) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.urgency(), b.urgency()))
	})
	return classes
}

// withSame adds the selections that are the same in both commits to the class without an effect.
func withSame(classes []Class, same []Place) []Class {
	if len(same) == 0 {
		return classes
	}
	i := slices.IndexFunc(classes, func(c Class) bool { return c.Effect == EffectUnchanged && c.Selections[0].Kind == same[0].Kind })
	if i < 0 {
		i = len(classes)
		classes = append(classes, Class{Effect: EffectUnchanged})
	}
	classes[i].Selections = append(classes[i].Selections, same...)
	return classes
}

func (c Class) rank() int { return slices.Index(Effects(), c.Effect) }

// urgency is less for changes that lose something on the way.
func (c Class) urgency() int {
	if slices.ContainsFunc(c.members, func(s *Selection) bool { return len(unprotectedMoves(s)) > 0 }) {
		return 0
	}
	return 1
}

// Members returns the compared selections of the class, without those that are the same in both commits.
func (c Class) Members() []*Selection { return c.members }

// Sample returns a selection that stands for the compared members: it lacks the states in which they differ.
func (c Class) Sample() *Selection {
	sample := c.members[0].Clone()
	for _, s := range c.members[1:] {
		sample.From, sample.To = sharedState(sample.From, s.From), sharedState(sample.To, s.To)
		for i := range sample.Moves {
			if sample.Moves[i].ToFile != s.Moves[i].ToFile {
				sample.Moves[i].ToFile = ""
			}
		}
	}
	return sample
}

// sharedState returns what two states have in common; nil where they select other numbers of applications.
func sharedState(a, b *State) *State {
	if a == nil || b == nil || a.Available != b.Available || a.Selected != b.Selected {
		return nil
	}
	shared := *a
	if a.Revision != b.Revision {
		shared.Revision = ""
	}
	return &shared
}

// effectKey returns a digest of the effect on the selection.
func (s *Selection) effectKey() [sha256.Size]byte {
	effect := s.EffectOn()
	if effect == EffectUnchanged {
		return sha256.Sum256([]byte(string(effect) + s.Place().Kind))
	}
	same := s.Clone()
	same.Namespace, same.Name, same.Cluster, same.File = "", "", "", ""
	same.From, same.To, same.SpecChanged, same.Counts.Unchanged = nil, nil, false, 0
	place := cmp.Or(s.Cluster, s.File)
	for _, sentences := range [][]string{same.Notes, same.Unknown} {
		for i, sentence := range sentences {
			sentences[i] = withoutPlace(sentence, place)
		}
	}
	same.Error = withoutPlace(same.Error, place)
	for i := range same.Moves {
		same.Moves[i].ToFile = ""
	}
	for i := range same.Applications {
		same.Applications[i].Values = same.Applications[i].Values.changes()
	}
	for i := range same.Instances {
		same.Instances[i].Values = same.Instances[i].Values.changes()
	}
	if same.Held != nil {
		same.Held.File, same.Held.Patch, same.Held.Advice = "", "", ""
	}
	// Encoding fails only for values that JSON does not have, and there are none.
	text, _ := json.Marshal(same)
	return sha256.Sum256(text)
}

// changes returns the change without the lines around it, but with where it is.
func (v *Values) changes() *Values {
	if v == nil {
		return nil
	}
	var lines strings.Builder
	lines.WriteString(v.Where + "\n")
	for line := range strings.Lines(v.Diff) {
		if strings.HasPrefix(line, "+") || strings.HasPrefix(line, "-") {
			lines.WriteString(line)
		}
	}
	return &Values{Field: v.Field, Added: v.Added, Removed: v.Removed, Diff: lines.String()}
}

// Clone returns a copy that shares nothing that a comparison changes later.
func (s *Selection) Clone() *Selection {
	out := *s
	out.Applications = slices.Clone(s.Applications)
	out.Instances = slices.Clone(s.Instances)
	out.Loosened = slices.Clone(s.Loosened)
	out.Moves = slices.Clone(s.Moves)
	out.Bypassed = slices.Clone(s.Bypassed)
	out.Replaced = slices.Clone(s.Replaced)
	out.Notes = slices.Clone(s.Notes)
	out.Unknown = slices.Clone(s.Unknown)
	for i := range out.Applications {
		out.Applications[i].Versions = slices.Clone(out.Applications[i].Versions)
	}
	if s.Held != nil {
		held := *s.Held
		held.Reasons = slices.Clone(held.Reasons)
		out.Held = &held
	}
	return &out
}

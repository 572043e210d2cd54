// SPDX-License-Identifier: Apache-2.0

package upgrades

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/charts/rendering"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// Upgrade is a release as it renders before and after a change.
type Upgrade struct {
	From, To []rendering.Manifest
	// Namespace of the release.
	Namespace string
	// Unread are the values that the newer chart does not read, and that were read, or not set, before.
	Unread []Unread
	// MirrorOf returns where a mirror has an image: the same address for one of a mirror, and an empty one for none. Nil where
	// there are no mirrors.
	MirrorOf func(image string) string
}

// Unread is a key of the values that a chart does not read.
type Unread struct {
	// Key is dotted. Suggestion is the closest key that the chart reads; empty without one.
	Key, Suggestion string
}

// maxRisks bounds the risks of an upgrade, in number.
const maxRisks = 500

// Risks returns what the upgrade may break, in the order of Rules and by object and field. The problems are sentences on what
// could not be looked at. What is generated, that is, other in each render, is no change, and hooks are no objects of a release.
func (u Upgrade) Risks() (risks []diff.Risk, problems []string) {
	s, problems := u.read()
	return u.risks(s, problems)
}

// Compare returns the risks and problems as Risks does, and the objects that differ.
func (u Upgrade) Compare() (risks []diff.Risk, changes Changes, problems []string) {
	s, problems := u.read()
	risks, problems = u.risks(s, problems)
	return risks, s.changes(), problems
}

// sides are the objects before and after, without those that are the same text.
type sides struct{ from, to objects }

func (u Upgrade) read() (s sides, problems []string) {
	same := unchanged(u.From, u.To)
	s.from, problems = read(u.From, u.Namespace, same)
	to, more := read(u.To, u.Namespace, same)
	s.to = to
	return s, append(problems, more...)
}

func (u Upgrade) risks(s sides, problems []string) ([]diff.Risk, []string) {
	var risks []diff.Risk
	for _, key := range s.from.sorted() {
		o := s.from[key]
		if newer, stays := s.to[key]; stays {
			risks = append(risks, changed(o, newer)...)
		} else {
			risks = append(risks, gone(o)...)
		}
	}
	for _, v := range u.Unread {
		risks = append(risks, v.risk())
	}
	found, more := u.images()
	risks, problems = append(risks, found...), append(problems, more...)
	order := ranks()
	slices.SortStableFunc(risks, func(a, b diff.Risk) int {
		return cmp.Or(cmp.Compare(order[a.Rule], order[b.Rule]), cmp.Compare(a.Object, b.Object), cmp.Compare(a.Field, b.Field))
	})
	if left := len(risks) - maxRisks; left > 0 {
		risks, problems = risks[:maxRisks], append(problems, fmt.Sprintf("%d further risks are left out", left))
	}
	slices.Sort(problems)
	return risks, slices.Compact(problems)
}

// ranks maps the IDs of rules to their places in the order.
func ranks() map[string]int {
	order := map[string]int{}
	for i, rule := range Rules() {
		order[rule.ID] = i
	}
	return order
}

// unchanged returns the texts that both sides have: objects that stay as they are.
func unchanged(from, to []rendering.Manifest) map[string]bool {
	before, both := map[string]string{}, map[string]bool{}
	for _, m := range from {
		before[m.Path+"\x00"+m.Text] = m.Text
	}
	for _, m := range to {
		if text, ok := before[m.Path+"\x00"+m.Text]; ok {
			both[text] = true
		}
	}
	return both
}

// changed returns the risks of an object that stays.
func changed(o, newer object) (risks []diff.Risk) {
	if isClaim(o) || isClaim(newer) {
		risks = changedClaim(o, newer)
	}
	if isDefinitionObject(o) {
		risks = append(risks, changedDefinition(o, newer)...)
	}
	return append(risks, immutable(o, newer)...)
}

// gone returns the risk of an object that is no longer rendered.
func gone(o object) []diff.Risk {
	r := diff.Risk{Object: o.String()}
	switch {
	case o.isGenerated(".metadata.name"):
		return nil // another one in each render
	case isClaim(o):
		r.Rule, r.Text = VolumeClaim, goneClaim(o)
	case isDefinitionObject(o):
		r.Rule, r.Text = Definition, goneDefinition(o)
	case o.group == "" && !o.isKept():
		r.Rule, r.Text = Gone, goneText(o.kind)
	}
	if r.Text == "" {
		return nil
	}
	return []diff.Risk{r}
}

// goneText returns the text for an object that Helm deletes, empty for a kind that is easily made again.
func goneText(kind string) string {
	switch kind {
	case "Namespace":
		return "Helm deletes it with everything in it. Annotate it with helm.sh/resource-policy: keep before the upgrade, or move what is in it."
	case "Secret":
		return "Helm deletes it. What is in it is lost, and pods that mount it do not start: look for what has its data in the newer chart, and for references from outside of the chart."
	case "ServiceAccount":
		return "Helm deletes it. Its tokens are void, and pods that name it are not created: look for references in values, bindings and identities of a cloud."
	}
	return ""
}

// risk returns the risk of a value that is not read.
func (v Unread) risk() diff.Risk {
	r := diff.Risk{Rule: Value, Field: excerpt.To(v.Key, 200), Text: "The newer chart does not read it: it has no effect."}
	if v.Suggestion != "" {
		r.Text += fmt.Sprintf(" Is %s meant?", excerpt.Quoted(v.Suggestion))
		return r
	}
	r.Text += " Look for its new name in the values of the chart, or remove it."
	return r
}

// changedRisk returns the risk of a field that changes. What is in a Secret is left out.
func changedRisk(rule string, o object, d difference, sentence string) diff.Risk {
	r := diff.Risk{Rule: rule, Object: o.String(), Field: excerpt.To(strings.TrimPrefix(d.path, "."), 200), Text: sentence}
	if isKind(o, "", "Secret") && d.path != ".type" {
		return r
	}
	if d.from != nil {
		r.From = diff.JSON(d.from)
	}
	if d.to != nil {
		r.To = diff.JSON(d.to)
	}
	return r
}

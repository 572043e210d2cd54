// SPDX-License-Identifier: Apache-2.0

package upgrades

import (
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/render/diff"
)

// isDeletedByUpgrades reports whether Helm deletes an object of a hook with each upgrade: before it is made again, or after it. It
// never deletes a definition, but for one of a list. For objects of hooks, helm.sh/resource-policy has no effect.
func (o object) isDeletedByUpgrades() bool {
	hooks, policies := listed(o.hook), listed(o.policy)
	runs := slices.Contains(hooks, "pre-upgrade") || slices.Contains(hooks, "post-upgrade")
	deletes := slices.Contains(policies, "before-hook-creation") || slices.Contains(policies, "hook-succeeded")
	return (!isDefinitionObject(o) || o.prefix != "") && runs && deletes
}

// listed returns the words of an annotation of hooks, as Helm reads them.
func listed(text string) (words []string) {
	for word := range strings.SplitSeq(text, ",") {
		if word = strings.ToLower(strings.TrimSpace(word)); word != "" {
			words = append(words, word)
		}
	}
	return words
}

// hooked returns the risks of objects that begin to be deleted by upgrades. What was an object of the release, and is none any
// more, is gone from it, and has a risk of its own, unless it was kept.
func (s sides) hooked() (risks []diff.Risk) {
	for _, key := range s.to.hooks.sorted() {
		o := s.to.hooks[key]
		was, existed := s.from.hooks[key]
		older, wasIn := s.from.all[key]
		_, isIn := s.to.all[key]
		if !o.isDeletedByUpgrades() || wasIn && !isIn && !older.isKept() || existed && was.isDeletedByUpgrades() || o.hasGeneratedName() {
			continue
		}
		if rule, text := hookedText(o, existed || wasIn); rule != "" {
			risks = append(risks, diff.Risk{Rule: rule, Object: o.String(), Text: text})
		}
	}
	return risks
}

// hookedText returns the rule and the text for an object that each upgrade deletes, empty for one that loses nothing by it. existed
// reports that it is there.
func hookedText(o object, existed bool) (rule, text string) {
	const each = "It becomes a hook of upgrades: Helm deletes it with each of them, whatever its helm.sh/resource-policy is"
	switch {
	case isKind(o, "", "PersistentVolumeClaim"), isClaim(o) && whenDeleted(o) == "Delete":
		return VolumeClaim, each + ", and with it the volume and its data where the reclaim policy is Delete. Make it an object of the release, or a claim of your own."
	case isKind(o, "", "Namespace"):
		return Gone, each + ", with everything in it. Make it an object of the release, or move what is in it."
	case isDefinitionObject(o):
		return Definition, each + ", with all its objects, because it is in a list. Make it a document of its own."
	case isKind(o, "", secretKind) && existed:
		return Gone, each + ", and makes it anew. What others have put into it, or was generated once, is lost: keep it as a hook of installations, or as a Secret of your own."
	}
	return "", ""
}

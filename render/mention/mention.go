// SPDX-License-Identifier: Apache-2.0

// Package mention finds the names in a spec that match nothing in its catalogs, with advice on what was meant. It
// renders nothing: its callers pass the names that documents have.
package mention

import (
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/selection"
)

// Mention is a name in a spec that is meant to match something in the catalogs.
type Mention struct {
	// Field is its path in the CatalogSelection.
	Field string
	// Value is the name; for a label <key>=<value>, or the key.
	Value string

	kind mentionKind
	// refuses is true where the spec excludes the applications with the name: applications that a later
	// catalog adds are excluded too.
	refuses bool
	// omitted is the index of a field in spec.omitFields.
	omitted int
	// source is, for a name in the limit of a source, the place of the source from 1; 0 for the others.
	source int
}

// among returns the sources that a mention can match: for one in the limit of a source only this source.
func (m Mention) among(sources []selection.Source) []selection.Source {
	if m.source > 0 && m.source <= len(sources) {
		return sources[m.source-1 : m.source]
	}
	return sources
}

// mentionKind is what a name is compared with.
type mentionKind int

const (
	mentionsName mentionKind = iota
	mentionsTier
	mentionsLabel
	mentionsLabelKey
	mentionsChannel
	mentionsField
)

// including returns the names, tiers and labels that spec.limit and the limits of sources select by, and the
// channels of spec.versions. It omits those that exclude applications, such as the values of NotIn.
func including(spec v1alpha1.CatalogSelectionSpec) []Mention {
	including := slices.DeleteFunc(limitMentions(spec), func(m Mention) bool { return m.refuses })
	for i, rule := range spec.Versions {
		including = append(including, channelMentions(i, rule)...)
	}
	return including
}

func channelMentions(i int, rule v1alpha1.VersionRule) []Mention {
	return listed(mentionsChannel, field.NewPath("spec", "versions").Index(i).Child("channels"), rule.Channels)
}

// limitMentions returns the mentions of spec.limit.
func limitMentions(spec v1alpha1.CatalogSelectionSpec) []Mention {
	path := field.NewPath("spec")
	mentions := mentionsOf(spec.Limit, path.Child("limit"))
	for i, source := range spec.Sources {
		for _, m := range mentionsOf(source.Limit, path.Child("sources").Index(i).Child("limit")) {
			m.source = i + 1
			mentions = append(mentions, m)
		}
	}
	return mentions
}

// mentionsOf returns the mentions of a limit, which may be nil.
func mentionsOf(limit *v1alpha1.Limit, path *field.Path) []Mention {
	if limit == nil {
		return nil
	}
	mentions := listed(mentionsName, path.Child("nameSelector"), limit.NameSelector)
	m := limit.MetadataSelector
	if m == nil {
		return mentions
	}
	path = path.Child("metadataSelector")
	mentions = append(mentions, listed(mentionsTier, path.Child("tierRefs"), m.TierRefs)...)
	for _, key := range slices.Sorted(maps.Keys(m.MatchLabels)) {
		mentions = append(mentions, Mention{
			Field: path.Child("matchLabels").Key(key).String(), Value: key + "=" + m.MatchLabels[key], kind: mentionsLabel,
		})
	}
	for i, requirement := range m.MatchExpressions {
		mentions = append(mentions, requirementMentions(requirement, path.Child("matchExpressions").Index(i))...)
	}
	return mentions
}

func requirementMentions(requirement metav1.LabelSelectorRequirement, path *field.Path) []Mention {
	refuses := requirement.Operator == metav1.LabelSelectorOpNotIn || requirement.Operator == metav1.LabelSelectorOpDoesNotExist
	switch requirement.Operator {
	case metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist:
		return []Mention{{Field: path.Child("key").String(), Value: requirement.Key, kind: mentionsLabelKey, refuses: refuses}}
	}
	var all []Mention
	for i, value := range requirement.Values {
		all = append(all, Mention{
			Field: path.Child("values").Index(i).String(), Value: requirement.Key + "=" + value, kind: mentionsLabel, refuses: refuses,
		})
	}
	return all
}

// Of returns all mentions of a spec.
func Of(spec v1alpha1.CatalogSelectionSpec) []Mention {
	path := field.NewPath("spec")
	all := append(limitMentions(spec), listed(mentionsName, path.Child("exclude"), spec.Exclude)...)
	for i, rule := range spec.Versions {
		all = append(all, listed(mentionsName, path.Child("versions").Index(i).Child("names"), rule.Names)...)
		all = append(all, channelMentions(i, rule)...)
	}
	for i, rule := range spec.Values {
		all = append(all, listed(mentionsName, path.Child("values").Index(i).Child("names"), rule.Names)...)
	}
	for i, m := range listed(mentionsField, path.Child("omitFields"), spec.OmitFields) {
		if !slices.Contains(adminFields(), m.Value) {
			m.omitted = i
			all = append(all, m)
		}
	}
	return all
}

func listed(kind mentionKind, path *field.Path, values []string) []Mention {
	var all []Mention
	for i, value := range values {
		all = append(all, Mention{Field: fmt.Sprintf("%s[%d]", path, i), Value: value, kind: kind})
	}
	return all
}

// adminFields are fields below spec that admins edit on a cluster. Omitting them makes sense even where
// the catalog does not have them.
func adminFields() []string {
	return []string{"default", "enforced", "selector", "selector.datacenters", "defaultVersion", "defaultValues", "defaultValuesBlock"}
}

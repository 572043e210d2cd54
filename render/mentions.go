package render

import (
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// Mention is a name in a spec that is meant to match something in the catalogs.
type Mention struct {
	// Field is its path in the CatalogSelection.
	Field string
	// Value that is mentioned; of labels <key>=<value>, or the key.
	Value string

	kind mentionKind
	// omitted is the index in spec.omitFields.
	omitted int
}

// mentionKind is what a name is compared with.
type mentionKind int

const (
	mentionsName mentionKind = iota
	mentionsTier
	mentionsLabel
	mentionsLabelKey
	mentionsField
)

// SameAs reports whether both mention the same name, tier, label or field, wherever in the spec they do.
func (m Mention) SameAs(other Mention) bool { return m.kind == other.kind && m.Value == other.Value }

// LimitMentions returns what spec.limit mentions to select by: names, tiers and values of labels.
// What refuses, such as NotIn, is not among them.
func LimitMentions(spec v1alpha1.CatalogSelectionSpec) []Mention {
	if spec.Limit == nil {
		return nil
	}
	path := field.NewPath("spec", "limit")
	mentions := each(mentionsName, path.Child("nameSelector"), spec.Limit.NameSelector)
	m := spec.Limit.MetadataSelector
	if m == nil {
		return mentions
	}
	path = path.Child("metadataSelector")
	mentions = append(mentions, each(mentionsTier, path.Child("tierRefs"), m.TierRefs)...)
	for _, key := range slices.Sorted(maps.Keys(m.MatchLabels)) {
		mentions = append(mentions, Mention{
			Field: path.Child("matchLabels").Key(key).String(), Value: key + "=" + m.MatchLabels[key], kind: mentionsLabel,
		})
	}
	for i, requirement := range m.MatchExpressions {
		path := path.Child("matchExpressions").Index(i)
		switch requirement.Operator {
		case metav1.LabelSelectorOpIn:
			for j, value := range requirement.Values {
				mentions = append(mentions, Mention{
					Field: path.Child("values").Index(j).String(), Value: requirement.Key + "=" + value, kind: mentionsLabel,
				})
			}
		case metav1.LabelSelectorOpExists:
			mentions = append(mentions, Mention{Field: path.Child("key").String(), Value: requirement.Key, kind: mentionsLabelKey})
		}
	}
	return mentions
}

// mentions returns all that a spec mentions.
func mentions(spec v1alpha1.CatalogSelectionSpec) []Mention {
	path := field.NewPath("spec")
	all := append(LimitMentions(spec), each(mentionsName, path.Child("exclude"), spec.Exclude)...)
	for i, rule := range spec.Versions {
		all = append(all, each(mentionsName, path.Child("versions").Index(i).Child("names"), rule.Names)...)
	}
	for i, rule := range spec.Values {
		all = append(all, each(mentionsName, path.Child("values").Index(i).Child("names"), rule.Names)...)
	}
	for i, m := range each(mentionsField, path.Child("omitFields"), spec.OmitFields) {
		if !slices.Contains(adminFields(), m.Value) {
			m.omitted = i
			all = append(all, m)
		}
	}
	return all
}

func each(kind mentionKind, path *field.Path, values []string) []Mention {
	var all []Mention
	for i, value := range values {
		all = append(all, Mention{Field: fmt.Sprintf("%s[%d]", path, i), Value: value, kind: kind})
	}
	return all
}

// adminFields are fields below spec that admins edit on a cluster. To omit them is of use even where
// the catalog does not have them.
func adminFields() []string {
	return []string{"default", "enforced", "selector", "selector.datacenters", "defaultVersion", "defaultValues", "defaultValuesBlock"}
}

// SPDX-License-Identifier: Apache-2.0

package options

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/catalog/metadata"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/render/selection/expression"
)

// maxPlatformVersions bounds the versions of a component in spec.platform, as the API does.
const maxPlatformVersions = 64

// criteria returns what selects applications and their versions.
func (r *reader) criteria(spec v1alpha1.CatalogSelectionSpec, path *field.Path) (c selection.Criteria) {
	if spec.Limit != nil {
		c = r.limit(spec.Limit, path.Child("limit"))
	}
	c.Exclude = spec.Exclude
	c.Sources = r.sourceRules(spec.Sources, path.Child("sources"))
	for i, v := range spec.Versions {
		rule, err := selection.NewVersionRule(v)
		if err != nil {
			r.refuse(field.Invalid(path.Child("versions").Index(i), v.Constraint, err.Error()))
		}
		c.Versions = append(c.Versions, rule)
	}
	c.Platform = r.platform(spec.Platform, path.Child("platform"))
	return c
}

// platform returns nil for a platform that is not set.
func (r *reader) platform(p *v1alpha1.Platform, path *field.Path) *selection.Platform {
	if p == nil {
		return nil
	}
	converted := &selection.Platform{}
	for _, listed := range []struct {
		component string
		versions  []string
	}{{metadata.ComponentKubernetes, p.Kubernetes}, {metadata.ComponentKKP, p.KKP}} {
		path := path.Child(listed.component)
		switch {
		case listed.versions == nil:
			continue
		case len(listed.versions) == 0:
			r.refuse(field.Required(path, "leave it out, or list at least one version"))
		case len(listed.versions) > maxPlatformVersions:
			r.refuse(field.TooMany(path, len(listed.versions), maxPlatformVersions))
		default:
			if err := converted.Add(listed.component, listed.versions); err != nil {
				r.refuse(field.Invalid(path, field.OmitValueType{}, err.Error()))
			}
		}
	}
	if p.Kubernetes == nil && p.KKP == nil {
		if p.Backends == nil {
			r.refuse(field.Required(path, "kubernetes, kkp or backends is needed"))
		}
		return nil
	}
	return converted
}

// limit returns the criteria of a limit of the spec, or of a source.
func (r *reader) limit(limit *v1alpha1.Limit, path *field.Path) selection.Criteria {
	c := selection.Criteria{Names: limit.NameSelector, Lists: limit.CatalogRefs}
	if m := limit.MetadataSelector; m != nil {
		c.Tiers = m.TierRefs
		selector, err := labelSelector(m)
		if err != nil {
			r.refuse(field.Invalid(path.Child("metadataSelector"), "", err.Error()))
		}
		c.Labels = selector
	}
	if limit.Expression != "" {
		compiled, err := expression.Compile(limit.Expression)
		if err != nil {
			r.refuse(field.Invalid(path.Child("expression"), limit.Expression, err.Error()))
		}
		c.Expression = compiled
	}
	return c
}

// sourceRules returns the rules of each source, nil if no source has any.
func (r *reader) sourceRules(sources []v1alpha1.SourceReference, path *field.Path) []selection.SourceRules {
	rules, some := make([]selection.SourceRules, len(sources)), false
	for i, source := range sources {
		if source.Limit != nil {
			rules[i].Limit = new(r.limit(source.Limit, path.Index(i).Child("limit")))
		}
		rules[i].MergeVersions = source.Merge == v1alpha1.MergeVersions
		some = some || source.Limit != nil || rules[i].MergeVersions
	}
	if !some {
		return nil
	}
	return rules
}

// labelSelector returns nil for a selector without labels: no constraint.
func labelSelector(m *v1alpha1.MetadataSelector) (labels.Selector, error) {
	if len(m.MatchLabels) == 0 && len(m.MatchExpressions) == 0 {
		return nil, nil
	}
	return metav1.LabelSelectorAsSelector(&metav1.LabelSelector{
		MatchLabels: m.MatchLabels, MatchExpressions: m.MatchExpressions,
	})
}

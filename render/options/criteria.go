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
func criteria(spec v1alpha1.CatalogSelectionSpec, path *field.Path) (selection.Criteria, field.ErrorList) {
	var errs field.ErrorList
	c := selection.Criteria{Exclude: spec.Exclude}
	if spec.Limit != nil {
		limit, invalid := limitOf(spec.Limit, path.Child("limit"))
		errs = append(errs, invalid...)
		c = limit
		c.Exclude = spec.Exclude
	}
	var invalid field.ErrorList
	c.Sources, invalid = sourceRules(spec.Sources, path.Child("sources"))
	errs = append(errs, invalid...)
	for i, v := range spec.Versions {
		rule, err := selection.NewVersionRule(v)
		if err != nil {
			errs = append(errs, field.Invalid(path.Child("versions").Index(i), v.Constraint, err.Error()))
		}
		c.Versions = append(c.Versions, rule)
	}
	c.Platform, invalid = platform(spec.Platform, path.Child("platform"))
	return c, append(errs, invalid...)
}

// platform returns nil for a platform that is not set.
func platform(p *v1alpha1.Platform, path *field.Path) (*selection.Platform, field.ErrorList) {
	if p == nil {
		return nil, nil
	}
	var errs field.ErrorList
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
			errs = append(errs, field.Required(path, "leave it out, or list at least one version"))
		case len(listed.versions) > maxPlatformVersions:
			errs = append(errs, field.TooMany(path, len(listed.versions), maxPlatformVersions))
		default:
			if err := converted.Add(listed.component, listed.versions); err != nil {
				errs = append(errs, field.Invalid(path, field.OmitValueType{}, err.Error()))
			}
		}
	}
	if p.Kubernetes == nil && p.KKP == nil {
		if p.Backends == nil {
			errs = append(errs, field.Required(path, "kubernetes, kkp or backends is needed"))
		}
		return nil, errs
	}
	return converted, errs
}

// limitOf returns the criteria of a limit of the spec, or of a source.
func limitOf(limit *v1alpha1.Limit, path *field.Path) (selection.Criteria, field.ErrorList) {
	var errs field.ErrorList
	c := selection.Criteria{Names: limit.NameSelector, Lists: limit.CatalogRefs}
	if m := limit.MetadataSelector; m != nil {
		c.Tiers = m.TierRefs
		selector, err := labelSelector(m)
		if err != nil {
			errs = append(errs, field.Invalid(path.Child("metadataSelector"), "", err.Error()))
		}
		c.Labels = selector
	}
	if limit.Expression != "" {
		compiled, err := expression.Compile(limit.Expression)
		if err != nil {
			errs = append(errs, field.Invalid(path.Child("expression"), limit.Expression, err.Error()))
		}
		c.Expression = compiled
	}
	return c, errs
}

// sourceRules returns the rules of each source, nil if no source has any.
func sourceRules(sources []v1alpha1.SourceReference, path *field.Path) ([]selection.SourceRules, field.ErrorList) {
	var errs field.ErrorList
	rules, some := make([]selection.SourceRules, len(sources)), false
	for i, source := range sources {
		if source.Limit != nil {
			limit, invalid := limitOf(source.Limit, path.Index(i).Child("limit"))
			errs = append(errs, invalid...)
			rules[i].Limit = &limit
		}
		rules[i].MergeVersions = source.Merge == v1alpha1.MergeVersions
		some = some || source.Limit != nil || rules[i].MergeVersions
	}
	if !some {
		return nil, errs
	}
	return rules, errs
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

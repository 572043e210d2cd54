// SPDX-License-Identifier: Apache-2.0

package options

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"time"
	"unicode/utf8"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/kustomize"
	"github.com/winnow-dev/winnow/render/loading"
	"github.com/winnow-dev/winnow/render/patching"
	"github.com/winnow-dev/winnow/render/reserved"
	"github.com/winnow-dev/winnow/render/tree"
)

// validate checks the rules that the schema of the API cannot express, and repeats the rules that rendering depends on: no
// API server has checked the spec that a status records. Safeguards and marks come from the selection itself.
func validate(cs *v1alpha1.CatalogSelection) field.ErrorList {
	var errs field.ErrorList
	meta, spec := field.NewPath("metadata"), field.NewPath("spec")
	if len(cs.Name) > 63 {
		errs = append(errs, field.TooLong(meta.Child("name"), cs.Name, 63))
	}
	for _, msg := range apivalidation.NameIsDNSSubdomain(cs.Name, false) {
		errs = append(errs, field.Invalid(meta.Child("name"), cs.Name, msg))
	}
	for _, msg := range apivalidation.ValidateNamespaceName(cs.Namespace, false) {
		errs = append(errs, field.Invalid(meta.Child("namespace"), cs.Namespace, msg))
	}
	if len(cs.Spec.Sources) == 0 {
		errs = append(errs, field.Required(spec.Child("sources"), "at least one source is needed"))
	}
	for i, source := range cs.Spec.Sources {
		path := spec.Child("sources").Index(i)
		errs = append(errs, validateSource(cs, source, path)...)
		errs = append(errs, validateMerge(source.Merge, i, path.Child("merge"))...)
		if slices.ContainsFunc(cs.Spec.Sources[:i], func(s v1alpha1.SourceReference) bool { return sameSource(s, source) }) {
			errs = append(errs, field.Duplicate(path, source.Name))
		}
	}
	if interval := cs.Spec.Interval.Duration; interval != 0 && interval < time.Second {
		errs = append(errs, field.Invalid(spec.Child("interval"), interval.String(), "must be at least 1s"))
	}
	if limit := cs.Spec.Limit; limit != nil {
		errs = append(errs, validateLimit(limit, spec.Child("limit"))...)
	}
	errs = append(errs, validateVersions(cs.Spec.Versions, spec.Child("versions"))...)
	errs = append(errs, validatePatches(cs.Spec, spec.Child("patches"))...)
	if common := cs.Spec.CommonMetadata; common != nil {
		errs = append(errs, validateCommonMetadata(common, spec.Child("commonMetadata"))...)
	}
	return errs
}

// validateLimit refuses lists that are set but empty: they could mean everything or nothing.
func validateLimit(limit *v1alpha1.Limit, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	refuseEmpty := func(list []string, path *field.Path) {
		if list != nil && len(list) == 0 {
			errs = append(errs, field.Required(path, "leave it out, or list at least one"))
		}
	}
	refuseEmpty(limit.NameSelector, path.Child("nameSelector"))
	refuseEmpty(limit.CatalogRefs, path.Child("catalogRefs"))
	if limit.MetadataSelector != nil {
		refuseEmpty(limit.MetadataSelector.TierRefs, path.Child("metadataSelector", "tierRefs"))
	}
	return errs
}

func validatePatches(spec v1alpha1.CatalogSelectionSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, err := range patching.Check(spec.Patches) {
		of := "patch"
		if errors.Is(err, patching.ErrTarget) {
			of = "target"
		}
		if err != nil {
			errs = append(errs, field.Invalid(path.Index(i).Child(of), field.OmitValueType{}, err.Error()))
		}
	}
	return errs
}

// sameSource reports whether both name the same files of the same source.
func sameSource(a, b v1alpha1.SourceReference) bool {
	for _, s := range []*v1alpha1.SourceReference{&a, &b} {
		s.Kind, s.Format, s.Limit, s.Merge = cmp.Or(s.Kind, "OCIRepository"), "", nil, ""
	}
	return reflect.DeepEqual(a, b)
}

func validateSource(cs *v1alpha1.CatalogSelection, source v1alpha1.SourceReference, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	kinds := []string{"OCIRepository", "GitRepository", "Bucket", "ExternalArtifact"}
	if source.Kind != "" && !slices.Contains(kinds, source.Kind) {
		errs = append(errs, field.NotSupported(path.Child("kind"), source.Kind, kinds))
	}
	if _, err := catalog.Named(source.Format); err != nil {
		errs = append(errs, field.NotSupported(path.Child("format"), source.Format, catalog.FormatNames()))
	}
	for i, pattern := range source.Include {
		if err := loading.CheckInclude([]string{pattern}); err != nil {
			errs = append(errs, field.Invalid(path.Child("include").Index(i), pattern, err.Error()))
		}
	}
	if source.Name == "" {
		errs = append(errs, field.Required(path.Child("name"), ""))
	}
	if source.Limit != nil {
		errs = append(errs, validateLimit(source.Limit, path.Child("limit"))...)
	}
	if source.Path != "" && (!fs.ValidPath(source.Path) || source.Path == ".") {
		errs = append(errs, field.Invalid(path.Child("path"), source.Path, "must be a clean relative path, such as deploy/catalog"))
	}
	own := source.Namespace == "" || source.Namespace == cs.Namespace
	if source.Kind == "ExternalArtifact" && source.Name == cs.Name && own {
		errs = append(errs, field.Forbidden(path, "this is the ExternalArtifact that the selection itself publishes"))
	}
	return errs
}

// validateMerge refuses the first source: with last week's revision in front of today's, today's would be
// shadowed.
func validateMerge(merge string, i int, path *field.Path) field.ErrorList {
	modes := []string{v1alpha1.MergeVersions}
	switch {
	case merge == "":
		return nil
	case merge != v1alpha1.MergeVersions:
		return field.ErrorList{field.NotSupported(path, merge, modes)}
	case i == 0:
		return field.ErrorList{field.Forbidden(path, "the first source cannot be merged: no source is listed before it")}
	}
	return nil
}

func validateCommonMetadata(common *v1alpha1.CommonMetadata, path *field.Path) field.ErrorList {
	labels, annotations := path.Child("labels"), path.Child("annotations")
	errs := metav1validation.ValidateLabels(common.Labels, labels)
	errs = append(errs, apivalidation.ValidateAnnotations(common.Annotations, annotations)...)
	for _, key := range slices.Sorted(maps.Keys(common.Annotations)) {
		value := common.Annotations[key]
		if err := tree.CheckText(value); err != nil {
			errs = append(errs, field.Invalid(annotations.Key(key), value, err.Error()))
		}
		if kustomize.IsUnwritable(value) {
			errs = append(errs, field.Invalid(annotations.Key(key), value, "has several lines and begins with a tab, which kustomize cannot write"))
		}
	}
	if _, ok := common.Labels[v1alpha1.ManagedByLabel]; ok {
		errs = append(errs, field.Forbidden(labels.Key(v1alpha1.ManagedByLabel), reserved.Winnow.Reason()))
	}
	errs = append(errs, checkPairKeys(common.Labels, labels)...)
	return append(errs, checkPairKeys(common.Annotations, annotations)...)
}

func checkPairKeys(set map[string]string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, key := range slices.Sorted(maps.Keys(set)) {
		if kustomize.IsUnwritableKey(key) {
			errs = append(errs, field.Invalid(path.Key(key), key, "kustomize cannot write the key, because YAML reads it as no text"))
		}
		if owner := reserved.OwnerOf(key); owner != "" {
			errs = append(errs, field.Forbidden(path.Key(key), "the key is reserved: "+owner.Reason()))
		}
	}
	return errs
}

// Bounds of channels in a rule for versions, as the API has them.
const (
	maxRuleChannels = 64
	maxChannel      = 63
)

// validateVersions checks the members of spec.versions that NewVersionRule does not.
func validateVersions(rules []v1alpha1.VersionRule, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, rule := range rules {
		channels, deprecated := path.Index(i).Child("channels"), path.Index(i).Child("deprecated")
		switch rule.Deprecated {
		case "", v1alpha1.DeprecatedKeep, v1alpha1.DeprecatedDrop:
		default:
			errs = append(errs, field.NotSupported(deprecated, rule.Deprecated, []string{v1alpha1.DeprecatedKeep, v1alpha1.DeprecatedDrop}))
		}
		if rule.Channels != nil && len(rule.Channels) == 0 {
			errs = append(errs, field.Required(channels, "leave it out, or list at least one"))
		}
		if n := len(rule.Channels); n > maxRuleChannels {
			errs = append(errs, field.TooMany(channels, n, maxRuleChannels))
			continue
		}
		for j, channel := range rule.Channels {
			if n := utf8.RuneCountInString(channel); n == 0 || n > maxChannel {
				errs = append(errs, field.Invalid(channels.Index(j), channel, fmt.Sprintf("must have 1 to %d characters", maxChannel)))
			}
		}
	}
	return errs
}

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

// reader reads a spec, and collects its violations.
type reader struct{ errs field.ErrorList }

func (r *reader) refuse(errs ...*field.Error) { r.errs = append(r.errs, errs...) }

// validate checks the rules that the schema of the API cannot express, and repeats the rules that rendering depends on: no
// API server has checked the spec that a status records. Safeguards and marks come from the selection itself.
func (r *reader) validate(cs *v1alpha1.CatalogSelection) {
	meta, spec := field.NewPath("metadata"), field.NewPath("spec")
	if len(cs.Name) > 63 {
		r.refuse(field.TooLong(meta.Child("name"), cs.Name, 63))
	}
	for _, msg := range apivalidation.NameIsDNSSubdomain(cs.Name, false) {
		r.refuse(field.Invalid(meta.Child("name"), cs.Name, msg))
	}
	for _, msg := range apivalidation.ValidateNamespaceName(cs.Namespace, false) {
		r.refuse(field.Invalid(meta.Child("namespace"), cs.Namespace, msg))
	}
	if len(cs.Spec.Sources) == 0 {
		r.refuse(field.Required(spec.Child("sources"), "at least one source is needed"))
	}
	for i, source := range cs.Spec.Sources {
		path := spec.Child("sources").Index(i)
		r.validateSource(cs, source, path)
		r.validateMerge(source.Merge, i, path.Child("merge"))
		if slices.ContainsFunc(cs.Spec.Sources[:i], func(s v1alpha1.SourceReference) bool { return sameSource(s, source) }) {
			r.refuse(field.Duplicate(path, source.Name))
		}
	}
	if interval := cs.Spec.Interval.Duration; interval != 0 && interval < time.Second {
		r.refuse(field.Invalid(spec.Child("interval"), interval.String(), "must be at least 1s"))
	}
	r.validateLimit(cs.Spec.Limit, spec.Child("limit"))
	r.validateVersions(cs.Spec.Versions, spec.Child("versions"))
	r.validatePatches(cs.Spec, spec.Child("patches"))
	if common := cs.Spec.CommonMetadata; common != nil {
		r.validateCommonMetadata(common, spec.Child("commonMetadata"))
	}
}

// validateLimit refuses lists that are set but empty: they could mean everything or nothing.
func (r *reader) validateLimit(limit *v1alpha1.Limit, path *field.Path) {
	if limit == nil {
		return
	}
	refuseEmpty := func(list []string, path *field.Path) {
		if list != nil && len(list) == 0 {
			r.refuse(field.Required(path, "leave it out, or list at least one"))
		}
	}
	refuseEmpty(limit.NameSelector, path.Child("nameSelector"))
	refuseEmpty(limit.CatalogRefs, path.Child("catalogRefs"))
	if limit.MetadataSelector != nil {
		refuseEmpty(limit.MetadataSelector.TierRefs, path.Child("metadataSelector", "tierRefs"))
	}
}

func (r *reader) validatePatches(spec v1alpha1.CatalogSelectionSpec, path *field.Path) {
	for i, err := range patching.Check(spec.Patches) {
		of := "patch"
		if errors.Is(err, patching.ErrTarget) {
			of = "target"
		}
		if err != nil {
			r.refuse(field.Invalid(path.Index(i).Child(of), field.OmitValueType{}, err.Error()))
		}
	}
}

// sameSource reports whether both name the same files of the same source.
func sameSource(a, b v1alpha1.SourceReference) bool {
	for _, s := range []*v1alpha1.SourceReference{&a, &b} {
		s.Kind, s.Format, s.Limit, s.Merge = cmp.Or(s.Kind, "OCIRepository"), "", nil, ""
	}
	return reflect.DeepEqual(a, b)
}

func (r *reader) validateSource(cs *v1alpha1.CatalogSelection, source v1alpha1.SourceReference, path *field.Path) {
	kinds := []string{"OCIRepository", "GitRepository", "Bucket", "ExternalArtifact"}
	if source.Kind != "" && !slices.Contains(kinds, source.Kind) {
		r.refuse(field.NotSupported(path.Child("kind"), source.Kind, kinds))
	}
	if _, err := catalog.Named(source.Format); err != nil {
		r.refuse(field.NotSupported(path.Child("format"), source.Format, catalog.FormatNames()))
	}
	for i, pattern := range source.Include {
		if err := loading.CheckInclude([]string{pattern}); err != nil {
			r.refuse(field.Invalid(path.Child("include").Index(i), pattern, err.Error()))
		}
	}
	if source.Name == "" {
		r.refuse(field.Required(path.Child("name"), ""))
	}
	r.validateLimit(source.Limit, path.Child("limit"))
	if source.Path != "" && (!fs.ValidPath(source.Path) || source.Path == ".") {
		r.refuse(field.Invalid(path.Child("path"), source.Path, "must be a clean relative path, such as deploy/catalog"))
	}
	own := source.Namespace == "" || source.Namespace == cs.Namespace
	if source.Kind == "ExternalArtifact" && source.Name == cs.Name && own {
		r.refuse(field.Forbidden(path, "this is the ExternalArtifact that the selection itself publishes"))
	}
}

// validateMerge refuses the first source: with last week's revision in front of today's, today's would be
// shadowed.
func (r *reader) validateMerge(merge string, i int, path *field.Path) {
	switch {
	case merge == "":
	case merge != v1alpha1.MergeVersions:
		r.refuse(field.NotSupported(path, merge, []string{v1alpha1.MergeVersions}))
	case i == 0:
		r.refuse(field.Forbidden(path, "the first source cannot be merged: no source is listed before it"))
	}
}

func (r *reader) validateCommonMetadata(common *v1alpha1.CommonMetadata, path *field.Path) {
	labels, annotations := path.Child("labels"), path.Child("annotations")
	r.refuse(metav1validation.ValidateLabels(common.Labels, labels)...)
	r.refuse(apivalidation.ValidateAnnotations(common.Annotations, annotations)...)
	for _, key := range slices.Sorted(maps.Keys(common.Annotations)) {
		value := common.Annotations[key]
		if err := tree.CheckText(value); err != nil {
			r.refuse(field.Invalid(annotations.Key(key), value, err.Error()))
		}
		if kustomize.IsUnwritable(value) {
			r.refuse(field.Invalid(annotations.Key(key), value, "has several lines and begins with a tab, which kustomize cannot write"))
		}
	}
	if _, ok := common.Labels[v1alpha1.ManagedByLabel]; ok {
		r.refuse(field.Forbidden(labels.Key(v1alpha1.ManagedByLabel), reserved.Winnow.Reason()))
	}
	r.checkPairKeys(common.Labels, labels)
	r.checkPairKeys(common.Annotations, annotations)
}

func (r *reader) checkPairKeys(set map[string]string, path *field.Path) {
	for _, key := range slices.Sorted(maps.Keys(set)) {
		if kustomize.IsUnwritableKey(key) {
			r.refuse(field.Invalid(path.Key(key), key, "kustomize cannot write the key, because YAML reads it as no text"))
		}
		if owner := reserved.OwnerOf(key); owner != "" {
			r.refuse(field.Forbidden(path.Key(key), "the key is reserved: "+owner.Reason()))
		}
	}
}

// Bounds of channels in a rule for versions, as the API has them.
const (
	maxRuleChannels = 64
	maxChannel      = 63
)

// validateVersions checks the members of spec.versions that NewVersionRule does not.
func (r *reader) validateVersions(rules []v1alpha1.VersionRule, path *field.Path) {
	for i, rule := range rules {
		channels, deprecated := path.Index(i).Child("channels"), path.Index(i).Child("deprecated")
		switch rule.Deprecated {
		case "", v1alpha1.DeprecatedKeep, v1alpha1.DeprecatedDrop:
		default:
			r.refuse(field.NotSupported(deprecated, rule.Deprecated, []string{v1alpha1.DeprecatedKeep, v1alpha1.DeprecatedDrop}))
		}
		if rule.Channels != nil && len(rule.Channels) == 0 {
			r.refuse(field.Required(channels, "leave it out, or list at least one"))
		}
		if n := len(rule.Channels); n > maxRuleChannels {
			r.refuse(field.TooMany(channels, n, maxRuleChannels))
			continue
		}
		for j, channel := range rule.Channels {
			if n := utf8.RuneCountInString(channel); n == 0 || n > maxChannel {
				r.refuse(field.Invalid(channels.Index(j), channel, fmt.Sprintf("must have 1 to %d characters", maxChannel)))
			}
		}
	}
}

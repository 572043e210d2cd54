// SPDX-License-Identifier: Apache-2.0

package crds

import (
	"cmp"
	"context"
	"slices"
	"strings"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	metavalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// pruneAndDefault prunes and defaults the object as the API server does. It returns the paths of unknown
// fields, and an error if the metadata cannot be decoded. It keeps a null without a default: the API
// server drops it when an object is created, and refuses it in a server-side apply, as Flux
// applies.
func (d *definition) pruneAndDefault(v *version, object *unstructured.Unstructured) ([]string, error) {
	_, _, unknown, err := objectmeta.GetObjectMetaWithOptions(object.Object, objectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: true})
	if err != nil {
		return nil, err
	}
	if !d.preserveUnknown {
		unknown = append(unknown, pruning.PruneWithOptions(object.Object, v.structural, true,
			structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})...)
	}
	invalid, embedded := objectmeta.CoerceWithOptions(nil, object.Object, v.structural, false,
		objectmeta.CoerceOptions{ReturnUnknownFieldPaths: true})
	unknown = append(unknown, embedded...)
	if invalid != nil {
		return unknown, invalid
	}
	defaulting.Default(object.Object, v.structural)
	if v.status {
		delete(object.Object, "status")
	}
	return unknown, nil
}

// validate validates in the order of the API server, which evaluates the rules only if the other errors
// allow it.
func (d *definition) validate(ctx context.Context, v *version, object *unstructured.Unstructured) field.ErrorList {
	if !d.namespaced {
		object.SetNamespace("") // the API server ignores the namespace
	}
	errs := metavalidation.ValidateObjectMetaAccessor(object, d.namespaced, metavalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
	return v.validate(ctx, object.UnstructuredContent(), errs)
}

// sorted sorts errors of the API server's code, which walks maps, by their fields.
func sorted(errs field.ErrorList) field.ErrorList {
	slices.SortFunc(errs, func(a, b *field.Error) int {
		return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Error(), b.Error()))
	})
	return errs
}

// validate adds the errors of the schema to errs.
func (v *version) validate(ctx context.Context, content map[string]any, errs field.ErrorList) field.ErrorList {
	errs = append(errs, sorted(validation.ValidateCustomResource(nil, content, v.validator))...)
	if v.structural == nil {
		return errs
	}
	errs = append(errs, sorted(objectmeta.Validate(nil, content, v.structural, false))...)
	errs = append(errs, sorted(listtype.ValidateListSetsAndMaps(nil, v.structural, content))...)
	if v.rules == nil {
		return errs
	}
	if slices.ContainsFunc(errs, preventsRules) {
		detail := strings.TrimPrefix(RulesUnchecked, field.ErrorTypeInvalid.String()+": ")
		return append(errs, &field.Error{Type: field.ErrorTypeInvalid, Detail: detail})
	}
	broken, _ := v.rules.Validate(ctx, nil, v.structural, content, nil, celconfig.RuntimeCELCostBudget)
	return append(errs, broken...)
}

// RulesUnchecked is the message of a finding for rules that other findings prevent from being evaluated.
const RulesUnchecked = "Invalid value: the rules of x-kubernetes-validations are not checked before the other errors are corrected"

func preventsRules(e *field.Error) bool {
	return slices.Contains([]field.ErrorType{
		field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid,
	}, e.Type)
}

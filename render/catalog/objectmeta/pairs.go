// SPDX-License-Identifier: Apache-2.0

package objectmeta

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/catalog/kustomize"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/reserved"
)

// The rules of a label and of an annotation, each a pair of a key and a value.

// LabelProblems returns what is wrong with a label. It holds labels to Kubernetes' rules, because label selectors are matched with them.
func LabelProblems(key, value string) []string {
	problems := checkKey(key, validation.IsQualifiedName(key))
	for _, problem := range validation.IsValidLabelValue(value) {
		problems = append(problems, "the value "+excerpt.Quoted(value)+" of "+excerpt.Quoted(key)+" is not valid: "+problem)
	}
	return problems
}

// AnnotationProblems returns what is wrong with the key of an annotation. It follows the API server, which ignores the case of annotation keys.
func AnnotationProblems(key, _ string) []string {
	return checkKey(key, validation.IsQualifiedName(strings.ToLower(key)))
}

func checkKey(key string, reasons []string) []string {
	return each.Map(reasons, func(reason string) string { return "the key " + excerpt.Quoted(key) + " is not valid: " + reason })
}

// pairCheck returns what is wrong with a label or an annotation.
type pairCheck func(key, value string) []string

func checkObjectLabel(key, value string) []string {
	return append(LabelProblems(key, value), checkFree(key)...)
}

// checkObjectAnnotation refuses values that kustomize cannot write: it chooses a style of its own.
func checkObjectAnnotation(key, value string) []string {
	problems := append(AnnotationProblems(key, value), checkFree(key)...)
	if kustomize.IsUnwritable(value) {
		problems = append(problems, "the value of "+excerpt.Quoted(key)+" has several lines and begins with a tab, which kustomize cannot write")
	}
	return problems
}

// checkFree refuses reserved keys, and those that kustomize cannot write.
func checkFree(key string) []string {
	if kustomize.IsUnwritableKey(key) {
		return []string{"the key " + excerpt.Quoted(key) + " is not allowed: kustomize cannot write it, because YAML reads it as no text"}
	}
	if reason := whyReserved(key); reason != "" {
		return []string{"the key " + excerpt.Quoted(key) + " is not allowed: " + reason}
	}
	return nil
}

// IsReserved reports whether a label or annotation is not for a catalog to set: it is kustomize's, Flux's or Winnow's, or
// the bypass.
func IsReserved(key string) bool { return whyReserved(key) != "" }

// whyReserved returns why a label or annotation is not for a catalog to set; empty if it is. What package reserved has is
// refused with two exceptions: the tier is the author's, and by the labels of KKP a selection leaves out KKP's own
// applications. No other key of Flux is the catalog's either: with force, for one, Flux would delete and create an object
// of the cluster again.
func whyReserved(key string) string {
	owner := reserved.OwnerOf(key)
	domain, _, hasDomain := strings.Cut(strings.ToLower(key), "/")
	switch {
	case hasDomain && (domain == "fluxcd.io" || strings.HasSuffix(domain, ".fluxcd.io")):
		return "how Flux treats an object is not the catalog's to say"
	case key == v1alpha1.TierLabel, owner == reserved.KKP:
		return ""
	}
	return owner.Reason()
}

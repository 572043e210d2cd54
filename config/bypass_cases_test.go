// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"maps"
	"strings"
)

// bypassCase is a request, and the annotations of the object that it returns.
type bypassCase struct {
	name                string
	labels, annotations map[string]string // of the object to create
	patch               string            // a merge patch of it. Empty: the creation is the request
	want                map[string]string
}

var (
	managed  = map[string]string{managedByLabel: "winnow", "catalog.winnow.dev/name": "default"}
	bypassed = map[string]string{managedByLabel: "winnow", bypassLabel: ""}
	marks    = map[string]string{reconcile: "disabled", bypassMark: "admission"}
)

const setLabel = `{"metadata":{"labels":{"apps.k8c.io/application-bypass":"true"}}}`

func bypassCases() []bypassCase {
	other := map[string]string{"example.com/owner": "network"}
	return []bypassCase{
		{"the label on a managed object marks it, and keeps what it has", managed, other, setLabel, with(other, marks)},
		{"the label on an object without annotations marks it", managed, nil, setLabel, marks},
		{"the label with an empty value counts", managed, nil, strings.Replace(setLabel, `"true"`, `""`, 1), marks},
		{"the label with the value false counts", managed, nil, strings.Replace(setLabel, `"true"`, `"false"`, 1), marks},
		{"an object created with the label is marked", bypassed, nil, "", marks},
		{"an object that was labelled before it became Winnow's is marked then", map[string]string{bypassLabel: "true"}, nil,
			`{"metadata":{"labels":{"app.kubernetes.io/managed-by":"winnow"}}}`, marks},
		{"a managed object without the label stays as it is", managed, other, `{"metadata":{"labels":{"example.com/a":"b"}}}`, other},
		{"an object of somebody else stays as it is", map[string]string{managedByLabel: "Helm"}, other, setLabel, other},
		{"an object without labels and annotations, of nobody, stays as it is", nil, nil, setLabel, nil},
		{"an object created without labels and annotations stays as it is", nil, nil, "", nil},
		{"somebody's own annotation does not become Winnow's", managed, map[string]string{reconcile: "disabled"}, setLabel, map[string]string{reconcile: "disabled"}},
		{"somebody's own annotation counts in any case, as with Flux", managed, map[string]string{reconcile: "Disabled"}, setLabel, map[string]string{reconcile: "Disabled"}},
		{"somebody's own annotation in the same request does not become Winnow's", managed, nil,
			`{"metadata":{"labels":{"apps.k8c.io/application-bypass":"true"},"annotations":{"kustomize.toolkit.fluxcd.io/reconcile":"disabled"}}}`,
			map[string]string{reconcile: "disabled"}},
		{"another value, which Flux ignores, is replaced", managed, map[string]string{reconcile: "enabled"}, setLabel, marks},
		{"removing the marks while the label is there is in vain", bypassed, nil, `{"metadata":{"annotations":null}}`, marks},
	}
}

const removeLabel = `{"metadata":{"labels":{"apps.k8c.io/application-bypass":null}}}`

func unmarkCases() []bypassCase {
	other, own := map[string]string{"example.com/owner": "network"}, map[string]string{reconcile: "disabled"}
	touch := `{"metadata":{"labels":{"example.com/a":"b"}}}`
	return []bypassCase{
		{"removing the label removes the marks, and nothing else", bypassed, other, removeLabel, other},
		{"the marks may be removed together with the label", bypassed, nil, strings.Replace(removeLabel, "}}}", `},"annotations":null}}`, 1), nil},
		{"the label of an object that is no longer Winnow's takes the marks with it", bypassed, nil,
			strings.Replace(removeLabel, "}}}", `,"app.kubernetes.io/managed-by":null}}}`, 1), nil},
		{"an object that is restored without the label is not marked", managed, with(other, marks), "", other},
		{"somebody's own annotation without the label stays", managed, own, touch, own},
		{"somebody's own annotation stays when the label is removed", bypassed, own, removeLabel, own},
		{"an annotation in another case is somebody's own", bypassed, nil,
			strings.Replace(removeLabel, "}}}", `},"annotations":{"kustomize.toolkit.fluxcd.io/reconcile":"Disabled"}}}`, 1), map[string]string{reconcile: "Disabled"}},
		{"without the second annotation, the first one is somebody's own", bypassed, nil,
			strings.Replace(removeLabel, "}}}", `},"annotations":{"catalog.winnow.dev/bypass-mark":null}}}`, 1), own},
	}
}

func with(a, b map[string]string) map[string]string {
	sum := maps.Clone(a)
	maps.Copy(sum, b)
	return sum
}

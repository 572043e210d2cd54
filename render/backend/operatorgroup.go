// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/value"
)

// TargetsIn returns the namespaces that the OperatorGroup among the objects lets an operator watch; empty without one.
func TargetsIn(main Object, objects []Object) string {
	if main.GroupVersionKind().GroupKind() != kinds.Subscription.GroupKind() {
		return ""
	}
	i := slices.IndexFunc(objects, func(o Object) bool {
		return o.GroupVersionKind().GroupKind() == kinds.OperatorGroup.GroupKind() && o.GetNamespace() == main.GetNamespace()
	})
	if i < 0 {
		return ""
	}
	return GroupOf(objects[i].Object).Targets
}

// Group is what an OperatorGroup states of the operators of its namespace.
type Group struct {
	// Targets are the namespaces that they watch, for messages, and Account is their account; empty for OLM's account.
	Targets, Account string
}

func (g Group) String() string {
	if g.Account == "" {
		return g.Targets
	}
	return g.Targets + " with the account " + excerpt.Quoted(g.Account)
}

// GroupOf reads an OperatorGroup.
func GroupOf(object map[string]any) Group {
	targets, _, _ := unstructured.NestedStringSlice(object, "spec", "targetNamespaces")
	spec := value.Of(object).Get("spec")
	selector, account := spec.Get("selector").Mapping(), spec.Get("serviceAccountName").Text()
	switch {
	case len(targets) > 0:
		return Group{excerpt.Names(slices.Sorted(slices.Values(targets)), maxTargets), account}
	case len(selector) > 0:
		return Group{"the namespaces of a selector", account}
	}
	return Group{"all namespaces", account}
}

// maxTargets bounds the namespaces that are compared by name.
const maxTargets = 20

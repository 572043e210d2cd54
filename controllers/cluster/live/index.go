// SPDX-License-Identifier: Apache-2.0

package live

import (
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
	"github.com/winnow-dev/winnow/controllers/kinds"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Values of the index of live objects. Each object has anything. An object with a mark of Winnow or the label of a bypass, also one of
// another owner, has marked. The functions below return the values for a key, for the labels of a selection, and for owner labels.
const (
	anything = "any"
	marked   = "marked"
)

func named(key safeguard.Key) string { return "key/" + key.Namespace + "/" + key.Name }

func selectedBy(namespace, name string) string { return "selection/" + namespace + "/" + name }

func owned(owner types.NamespacedName) string { return "owner/" + owner.String() }

// index returns the values of a live object, by its trimmed metadata.
func index(object client.Object) []string {
	labels := object.GetLabels()
	key := safeguard.KeyOf("", object.GetObjectKind().GroupVersionKind().Kind, object.GetNamespace(), object.GetName())
	values := []string{anything, named(key)}
	if owner := guard.OwnerOf(object); owner.Name != "" {
		values = append(values, owned(owner))
	}
	if name := labels[v1alpha1.NameLabel]; name != "" {
		values = append(values, selectedBy(labels[v1alpha1.NamespaceLabel], name))
	}
	if len(object.GetManagedFields()) > 0 || object.GetAnnotations()[v1alpha1.BypassMarkAnnotation] != "" || guard.Bypassed(object) {
		values = append(values, marked)
	}
	return values
}

// owners returns the values of what the Kustomizations that apply to this cluster own.
func owners(consumed consumers.Consumers) []string {
	return each.Map(consumed.Local(), func(item consumers.Consumer) string { return owned(item.Key()) })
}

// find returns the objects with one of the values, each once in each version of its kind, in no order. They are shared with the caches,
// and must not be modified.
func find(readers []*kinds.Reader, values ...string) []*guard.Live {
	var found []*guard.Live
	for _, reader := range readers {
		seen := map[types.NamespacedName]bool{}
		for _, value := range values {
			for object := range reader.Find(value) {
				metadata, ok := object.(*guard.Live)
				if !ok { // the kind may be watched with its content
					continue
				}
				if name := client.ObjectKeyFromObject(metadata); !seen[name] {
					seen[name] = true
					found = append(found, metadata)
				}
			}
		}
	}
	return found
}

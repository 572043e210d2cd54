// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/installation"
	"github.com/winnow-dev/winnow/render/safeguard"
)

func isOperator(in installation.Instance) bool { return in.Main.Identity[safeguard.PackageField] != "" }

// OperatorConflicts returns what the operators of a render do to live objects of others, and what these do to them: a package that
// the other version of OLM runs, an OperatorGroup that would be overwritten, and a second one. named returns the key that
// an object has in the cluster once it is applied.
func OperatorConflicts(ctx context.Context, cs *v1alpha1.CatalogSelection, published []safeguard.Definition, result *render.Result,
	live []unstructured.Unstructured, named func(safeguard.Key) safeguard.Key) ([]safeguard.Change, error) {
	b := beside{
		selection: cs, published: keys(published), named: named,
		live: map[safeguard.Key]map[string]any{}, installers: map[string][]safeguard.Key{},
	}
	was := map[string]safeguard.Key{}
	for _, d := range published {
		was[d.Instance] = named(d.Key())
	}
	for _, u := range live {
		gvk := u.GroupVersionKind()
		key := safeguard.KeyOf(gvk.Group, gvk.Kind, u.GetNamespace(), u.GetName())
		b.live[key] = u.Object
		if of := installation.MainOf(u.Object).Identity[safeguard.PackageField]; of != "" {
			b.installers[of] = append(b.installers[of], key)
		}
	}
	operators := each.Where(result.Instances, isOperator)
	objects, err := result.InstanceObjects(ctx, each.Map(operators, func(in installation.Instance) string { return in.Name }))
	if err != nil {
		return nil, err
	}
	seen := map[safeguard.Key]bool{}
	for _, in := range result.Instances {
		if isOperator(in) && !b.published[in.Main.Key()] {
			b.packages(in, was[in.Name])
		}
		for _, o := range in.Objects {
			if o.Role == backend.OperatorGroup && !seen[o.Key] {
				seen[o.Key] = true
				b.group(in, named(o.Key), backend.GroupOf(objects[o.Key]))
			}
		}
	}
	safeguard.Sort(b.changes)
	return b.changes, nil
}

type beside struct {
	selection *v1alpha1.CatalogSelection
	published map[safeguard.Key]bool
	live      map[safeguard.Key]map[string]any
	// installers maps packages to the live objects by which OLM installs them.
	installers map[string][]safeguard.Key
	named      func(safeguard.Key) safeguard.Key
	changes    []safeguard.Change
}

func (b *beside) add(in installation.Instance, from, to, detail string) {
	b.changes = append(b.changes, safeguard.Change{
		Reason: v1alpha1.IdentityChangeReason, Key: b.named(in.Main.Key()), Instance: in.Name, Application: in.Application,
		Field: safeguard.OperatorConflictField, From: from, To: to, Detail: detail,
	})
}

// packages finds the live objects by which the other version of OLM installs the package. It skips was, the
// object of the instance before: its identity is compared.
func (b *beside) packages(in installation.Instance, was safeguard.Key) {
	of := in.Main.Identity[safeguard.PackageField]
	for _, key := range b.installers[of] {
		if key.Kind == in.Main.Kind || key == was {
			continue
		}
		b.add(in, key.String(), in.Main.Key().String(), fmt.Sprintf(
			"the cluster has %s, by which OLM installs the package %s already: OLM v0 and OLM v1 cannot both run it; delete that object and what it has installed first",
			key, excerpt.Quoted(of)))
	}
}

// group compares the OperatorGroup of an instance with others of its namespace that this selection has not applied.
func (b *beside) group(in installation.Instance, key safeguard.Key, now backend.Group) {
	if object, lives := b.live[key]; lives {
		if AppliedBy(b.selection, &unstructured.Unstructured{Object: object}) {
			return
		}
		if before := backend.GroupOf(object); before != now {
			b.add(in, before.String(), now.String(), fmt.Sprintf(
				"the OperatorGroup %s, which this selection has not applied, is for %s, and would be for %s: Flux would change it for all operators of the namespace, "+
					"and keep what other owners of its fields have set; set createOperatorGroup: false to use it as it is", key.FullName(), before, now))
		}
		return
	}
	for other := range b.live {
		if other.Kind == key.Kind && other.Group == key.Group && other.Namespace == key.Namespace {
			b.add(in, other.String(), key.String(), fmt.Sprintf(
				"the namespace %s has the OperatorGroup %s: OLM stops all operators of a namespace with two; set createOperatorGroup: false",
				excerpt.Quoted(key.Namespace), excerpt.Quoted(other.Name)))
		}
	}
}

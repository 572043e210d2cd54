// SPDX-License-Identifier: Apache-2.0

package holders

import (
	"cmp"
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/inventory"
	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/installation"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// FindStrangers adds to a position the HelmReleases that have a release which enters, and that no selection claims: helm-controller
// would upgrade it for both in turns. It lists all HelmReleases, once, and only if a release enters.
func (h *Holders) FindStrangers(ctx context.Context, cs *v1alpha1.CatalogSelection, p *Position) error {
	entering := inventory.Keys{}
	for key := range p.claimed.Without(p.published(cs)) {
		if object, ok := p.releases[key]; ok && object.Group == kinds.HelmRelease.Group && object.Kind == kinds.HelmRelease.Kind {
			entering[key] = true
		}
	}
	if len(entering) == 0 || p.hasStrangers {
		return nil
	}
	p.hasStrangers = true
	var strangers []unstructured.Unstructured
	err := h.Objects.EachReadable(ctx, cs, kinds.HelmRelease, "HelmReleases of others with the same release are not found", func(u unstructured.Unstructured) {
		if _, remote, _ := unstructured.NestedMap(u.Object, "spec", "kubeConfig"); remote {
			return
		}
		if d := strangerOf(u); !p.claimed[d.Key()] && slices.ContainsFunc(d.Releases(), func(key safeguard.Key) bool { return entering[key] }) {
			strangers = append(strangers, u)
		}
	})
	if err != nil {
		return err
	}
	for _, u := range strangers {
		if err := h.addStranger(ctx, p, u, entering); err != nil {
			return err
		}
	}
	return nil
}

// strangerOf reads a HelmRelease as the object of an instance.
func strangerOf(u unstructured.Unstructured) safeguard.Definition {
	d := installation.MainOf(u.Object)
	d.Instance = cmp.Or(d.Instance, d.Name)
	return d
}

// addStranger adds a HelmRelease that has releases, unless its Kustomization is of a selection, which claims them. Of one in another
// namespace than the release and than the object of the selection, only a release that it has stored counts: a tenant can name any
// namespace.
func (h *Holders) addStranger(ctx context.Context, p *Position, u unstructured.Unstructured, entering inventory.Keys) error {
	d := strangerOf(u)
	storage, _, _ := unstructured.NestedString(u.Object, "status", "storageNamespace")
	history, _, _ := unstructured.NestedSlice(u.Object, "status", "history")
	held := slices.DeleteFunc(d.Releases(), func(key safeguard.Key) bool {
		_, known := p.foreign[key]
		near := d.Namespace == key.Namespace || d.Namespace == p.releases[key].Namespace
		stored := key.Group == safeguard.StoredRelease && storage == key.Namespace && len(history) > 0
		return known || !entering[key] || !near && !stored
	})
	if len(held) == 0 {
		return nil
	}
	holder := Holder{HelmRelease: d.Key()}
	if owner := guard.OwnerOf(&u); owner.Name != "" {
		ks, err := h.Kustomizations.Get(ctx, owner)
		if err != nil {
			return err
		}
		by := applierOf(ks)
		switch applied := by.inventory[d.Key()]; {
		case applied && h.View.Named(by.holder.Selection) != nil:
			return nil
		case applied:
			holder.Kustomization, holder.Source = by.holder.Kustomization, by.holder.Source
		}
	}
	for _, key := range held {
		p.foreign[key] = holder
	}
	return nil
}

// SPDX-License-Identifier: Apache-2.0

package olm

import (
	"cmp"
	"maps"
	"slices"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/backend/draft"
	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// Install modes of bundles, and how many of them a message has.
const (
	allNamespaces = "AllNamespaces"
	ownNamespace  = "OwnNamespace"
	maxModes      = 4
)

// FillSubscription installs a package using a Subscription, with the OperatorGroup of its namespace. OLM v0 installs the head
// of the channel in the catalog of the cluster.
func FillSubscription(d *draft.Draft) {
	if !ofPackage(d, map[string]string{"valuesFrom": "OLM reads no values, so name Secrets and ConfigMaps in values.envFrom"}) {
		return
	}
	served := d.FromServed(v1alpha1.PushCatalogSource)
	if served {
		d.Catalog = d.Served.CatalogReference
	}
	if d.Requested != "" && !served {
		d.Refuse("version", "is not known to OLM v0, which installs the head of the channel: leave it out, narrow the package with spec.versions, and install it from a catalog that has no more than that, such as the CatalogSource of spec.push.catalog")
	}
	if d.Catalog.Name == "" || d.Catalog.Namespace == "" {
		d.Refuse("catalog", "must have the name and the namespace of the CatalogSource in the cluster that has the package")
	} else {
		d.Subdomain("catalog.name", d.Catalog.Name)
		d.Label("catalog.namespace", d.Catalog.Namespace)
	}
	channel := d.Package.DefaultChannel
	switch len(d.Channels) {
	case 0:
	case 1:
		channel = d.Channels[0]
	default:
		d.Refuse("channels", "has %d channels, and OLM v0 follows one", len(d.Channels))
	}
	spec := map[string]any{
		"name": d.Package.Name, "channel": channel,
		"source": d.Catalog.Name, "sourceNamespace": d.Catalog.Namespace,
	}
	draft.SetMap(spec, "config", subscriptionConfig(d))
	addPackageNamespace(d)
	addOperatorGroup(d)
	d.Add(backend.Main, kinds.Subscription, d.TargetNamespace, d.Name, map[string]any{"spec": spec})
}

// configFields are the members of spec.config of a Subscription; true stands for a list.
func configFields() map[string]bool {
	return map[string]bool{
		"affinity": false, "annotations": false, "env": true, "envFrom": true, "nodeSelector": false, "resources": false,
		"selector": false, "tolerations": true, "volumeMounts": true, "volumes": true,
	}
}

// subscriptionConfig returns the values as spec.config of a Subscription, which OLM v0 copies into the Deployments of
// the operator.
func subscriptionConfig(d *draft.Draft) map[string]any {
	values, known := backend.WithoutNulls(d.Values), configFields()
	for _, name := range slices.Sorted(maps.Keys(values)) {
		isList, isKnown := known[name]
		_, list := values[name].([]any)
		_, mapping := values[name].(map[string]any)
		switch {
		case !isKnown:
			d.Refuse("values."+name, "is no member of spec.config of a Subscription, only %s", excerpt.Names(slices.Sorted(maps.Keys(known)), len(known)))
		case isList && !list:
			d.Refuse("values."+name, "must be a list")
		case !isList && !mapping:
			d.Refuse("values."+name, "must be a mapping")
		}
	}
	return values
}

// addOperatorGroup adds the OperatorGroup of the namespace. OLM v0 allows one, so it has the name of the namespace, and
// instances share it.
func addOperatorGroup(d *draft.Draft) {
	if d.CreateOperatorGroup != nil && !*d.CreateOperatorGroup {
		if d.ServiceAccountName != "" {
			d.Refuse("serviceAccountName", "is a field of the OperatorGroup, which createOperatorGroup: false leaves out: set it there")
		}
		return
	}
	spec := map[string]any{}
	modes := d.Bundle.InstallModes
	switch {
	case slices.Contains(modes, allNamespaces):
	case slices.Contains(modes, ownNamespace):
		spec["targetNamespaces"] = []any{d.TargetNamespace}
	case modes == nil:
		d.Refuse("createOperatorGroup", "must be false, because the catalog does not tell the install modes of the bundle %s: make the OperatorGroup of the namespace %s yourself",
			excerpt.Quoted(d.Bundle.Name), excerpt.Quoted(d.TargetNamespace))
	default:
		d.Refuse("createOperatorGroup", "must be false, because the bundle %s supports %s, and neither %s nor %s: make an OperatorGroup with the namespaces that it is to watch in %s yourself",
			excerpt.Quoted(d.Bundle.Name), cmp.Or(excerpt.Names(modes, maxModes), "no install mode"), allNamespaces, ownNamespace, excerpt.Quoted(d.TargetNamespace))
	}
	draft.Set(spec, "serviceAccountName", d.ServiceAccountName)
	d.Add(backend.OperatorGroup, kinds.OperatorGroup, d.TargetNamespace, d.TargetNamespace, map[string]any{"spec": spec})
}

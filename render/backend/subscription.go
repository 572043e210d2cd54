package backend

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/excerpt"
)

var (
	subscriptionKind  = schema.GroupVersionKind{Group: "operators.coreos.com", Version: "v1alpha1", Kind: "Subscription"}
	operatorGroupKind = schema.GroupVersionKind{Group: "operators.coreos.com", Version: "v1", Kind: "OperatorGroup"}
)

// Install modes of bundles, and how many of them a message has.
const (
	allNamespaces = "AllNamespaces"
	ownNamespace  = "OwnNamespace"
	maxModes      = 4
)

// subscriptionBackend makes Subscriptions of packages, and the OperatorGroups of their namespaces. OLM v0 installs the head
// of the channel in the catalog of the cluster.
func subscriptionBackend() Backend {
	return translation{
		name:    Subscription,
		targets: []schema.GroupVersionKind{subscriptionKind, operatorGroupKind},
		build:   func(d *draft) { d.subscription() },
	}
}

func (d *draft) subscription() {
	if !d.ofPackage(map[string]string{"valuesFrom": "OLM reads no values, so name Secrets and ConfigMaps in values.envFrom"}) {
		return
	}
	served := d.FromServed(v1alpha1.PushCatalogSource)
	if served {
		d.Catalog = d.Served.CatalogReference
	}
	if d.Requested != "" && !served {
		d.refuse("version", "is not known to OLM v0, which installs the head of the channel: leave it out, narrow the package by spec.versions, and install it from a catalog that has no more than that, such as the CatalogSource of spec.push.catalog")
	}
	if d.Catalog.Name == "" || d.Catalog.Namespace == "" {
		d.refuse("catalog", "must have the name and the namespace of the CatalogSource in the cluster that has the package")
	} else {
		d.subdomain("catalog.name", d.Catalog.Name)
		d.label("catalog.namespace", d.Catalog.Namespace)
	}
	channel := d.Package.DefaultChannel
	switch len(d.Channels) {
	case 0:
	case 1:
		channel = d.Channels[0]
	default:
		d.refuse("channels", "has %d channels, and OLM v0 follows one", len(d.Channels))
	}
	spec := map[string]any{
		"name": d.Package.Name, "channel": channel,
		"source": d.Catalog.Name, "sourceNamespace": d.Catalog.Namespace,
	}
	setMap(spec, "config", d.subscriptionConfig())
	d.addPackageNamespace()
	d.addOperatorGroup()
	d.add(Main, subscriptionKind, d.TargetNamespace, d.Name, map[string]any{"spec": spec})
}

// configFields are the members of spec.config of a Subscription; true stands for a list.
func configFields() map[string]bool {
	return map[string]bool{
		"affinity": false, "annotations": false, "env": true, "envFrom": true, "nodeSelector": false, "resources": false,
		"selector": false, "tolerations": true, "volumeMounts": true, "volumes": true,
	}
}

// subscriptionConfig returns the values, which are what OLM v0 sets in the Deployments of the operator.
func (d *draft) subscriptionConfig() map[string]any {
	values, known := withoutNulls(d.Values), configFields()
	for _, name := range slices.Sorted(maps.Keys(values)) {
		isList, isKnown := known[name]
		_, list := values[name].([]any)
		_, mapping := values[name].(map[string]any)
		switch {
		case !isKnown:
			d.refuse("values."+name, "is no member of spec.config of a Subscription, only %s", excerpt.Names(slices.Sorted(maps.Keys(known)), len(known)))
		case isList && !list:
			d.refuse("values."+name, "must be a list")
		case !isList && !mapping:
			d.refuse("values."+name, "must be a mapping")
		}
	}
	return values
}

// addOperatorGroup adds the OperatorGroup of the namespace, of which OLM v0 allows one: its name is that of the namespace,
// so that instances share it.
func (d *draft) addOperatorGroup() {
	if d.CreateOperatorGroup != nil && !*d.CreateOperatorGroup {
		if d.ServiceAccountName != "" {
			d.refuse("serviceAccountName", "is a field of the OperatorGroup, which createOperatorGroup: false leaves out: set it there")
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
		d.refuse("createOperatorGroup", "must be false, because the catalog does not tell the install modes of the bundle %s: make the OperatorGroup of the namespace %s yourself",
			quote(d.Bundle.Name), quote(d.TargetNamespace))
	default:
		d.refuse("createOperatorGroup", "must be false, because the bundle %s supports %s, and neither %s nor %s: make an OperatorGroup with the namespaces that it is to watch in %s yourself",
			quote(d.Bundle.Name), modesText(modes), allNamespaces, ownNamespace, quote(d.TargetNamespace))
	}
	setText(spec, "serviceAccountName", d.ServiceAccountName)
	d.add(OperatorGroup, operatorGroupKind, d.TargetNamespace, d.TargetNamespace, map[string]any{"spec": spec})
}

func modesText(modes []string) string {
	if len(modes) == 0 {
		return "no install mode"
	}
	return excerpt.Names(modes, maxModes)
}

// TargetsIn returns the namespaces that an operator watches by the OperatorGroup among the objects; empty without one.
func TargetsIn(main Object, objects []Object) string {
	if main.GroupVersionKind().GroupKind() != subscriptionKind.GroupKind() {
		return ""
	}
	i := slices.IndexFunc(objects, func(o Object) bool {
		return o.GroupVersionKind().GroupKind() == operatorGroupKind.GroupKind() && o.GetNamespace() == main.GetNamespace()
	})
	if i < 0 {
		return ""
	}
	return GroupOf(objects[i].Object).Targets
}

// Group is what an OperatorGroup says of the operators of its namespace.
type Group struct {
	// Targets are the namespaces that they watch, for people, and Account is theirs; empty for that of OLM.
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
	selector, _, _ := unstructured.NestedMap(object, "spec", "selector")
	account, _, _ := unstructured.NestedString(object, "spec", "serviceAccountName")
	switch {
	case len(targets) > 0:
		return Group{excerpt.Names(slices.Sorted(slices.Values(targets)), maxTargets), account}
	case len(selector) > 0:
		return Group{"those of a selector", account}
	}
	return Group{"all namespaces", account}
}

// maxTargets bounds the namespaces that are compared by name.
const maxTargets = 20

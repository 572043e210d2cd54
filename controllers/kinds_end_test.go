// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"strings"
	"testing"
)

// A catalog with another kind in each revision leaves no watch behind, except for kinds with live objects.
func TestTheWatchOfAKindEndsWithTheLastSelectionOfIt(t *testing.T) {
	c := newCluster(t)
	subscriptions := func() []string {
		var own []string
		for _, gvk := range c.reconciler.cluster.Kinds.Subscriptions(c.key("kkp")) {
			if gvk.Kind == "ApplicationDefinition" {
				own = append(own, gvk.Group)
			}
		}
		return own
	}
	revision := func(group string) {
		c.source(catalogArchive(t, "applications/argocd/application.yaml", strings.Replace(definition("argocd", ""), "apps.kubermatic.k8c.io", group, 1)))
	}
	revision("first." + c.namespace + ".example")
	c.selection("kkp")
	c.publish("kkp")
	c.equal("kinds of the first revision", subscriptions(), []string{"first." + c.namespace + ".example"})
	revision("second." + c.namespace + ".example")
	c.publish("kkp")
	c.equal("kinds of the second", subscriptions(), []string{"second." + c.namespace + ".example"})

	c.install(c.group)
	revision(c.group)
	c.publish("kkp")
	c.apply("kkp", "argocd")
	revision("third." + c.namespace + ".example")
	c.publish("kkp")
	c.equal("kinds with a live object", subscriptions(), []string{c.group, "third." + c.namespace + ".example"})
	if err := apiServer.Delete(t.Context(), c.live("argocd")); err != nil {
		t.Fatal(err)
	}
	c.awaitCaches()
	c.publish("kkp")
	c.equal("kinds without a live object", subscriptions(), []string{"third." + c.namespace + ".example"})
}

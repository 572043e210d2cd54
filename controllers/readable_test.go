// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"strings"
	"testing"

	"github.com/fluxcd/pkg/runtime/conditions"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// liveVersions creates a live definition with the versions.
func (c *liveCluster) liveVersions(name, versions string) {
	c.Helper()
	u := newDefinition(c.group, name)
	u.Object["spec"] = map[string]any{"defaultVersion": "7.7.7"}
	setVersions(u, versions)
	if err := apiServer.Create(c.Context(), u); err != nil {
		c.Fatal(err)
	}
}

// The message of an adoption has the versions of a live definition only if the account of the selection may read it: the
// readers of a selection in the namespace of a tenant need not be those of the definitions.
func TestAnAdoptionTellsWhatTheAccountMayRead(t *testing.T) {
	onlyGet := func(names ...string) right {
		return right{group: platformGroup, resource: "applicationdefinitions", verbs: []string{"get"}, names: names}
	}
	for _, test := range []struct {
		name               string
		account, byDefault string
		rights             []right
		shown              bool
	}{
		{name: "the controller itself reads all", shown: true},
		{name: "an account without a right", account: "tenant"},
		{name: "the default account without a right", byDefault: "default"},
		{name: "an account that may read all", account: "tenant", rights: []right{onlyGet()}, shown: true},
		{name: "an account that may read this one", account: "tenant", rights: []right{onlyGet("argocd")}, shown: true},
		{name: "an account that may read another one", account: "tenant", rights: []right{onlyGet("nginx")}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCluster(t)
			c.liveVersions("argocd", "6.6.6")
			c.actAs(restConfig, test.byDefault)
			if len(test.rights) > 0 {
				c.allow(c.account(test.account), test.rights...)
			}
			c.catalog("argocd")
			c.selection("kkp", guarded, as(test.account))
			c.reconciled("kkp")
			cs := c.get("kkp")
			c.equal("conditions", conditionsOf(cs), stalledHold("Adoption"))
			content, err := unstructuredOf(cs)
			if err != nil {
				t.Fatal(err)
			}
			for _, secret := range []string{"6.6.6", "7.7.7"} {
				text := toYAML(t, content.Object["status"]) + c.events.message
				if shown := strings.Contains(text, secret); shown != test.shown && (shown || secret == "6.6.6") {
					t.Errorf("%s is shown: %t:\n%s", secret, shown, conditions.GetMessage(cs, v1alpha1.HeldCondition))
				}
			}
		})
	}
}

func unstructuredOf(cs *v1alpha1.CatalogSelection) (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(cs)
	return &unstructured.Unstructured{Object: content}, err
}

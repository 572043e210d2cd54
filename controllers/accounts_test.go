// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

func as(account string) func(*v1alpha1.CatalogSelection) {
	return func(cs *v1alpha1.CatalogSelection) { cs.Spec.ServiceAccountName = account }
}

// account returns the user name of a ServiceAccount of the namespace.
func (c *liveCluster) account(name string) string {
	return "system:serviceaccount:" + c.namespace + ":" + name
}

type accountCase struct {
	name               string
	account, byDefault string
	// allowed is the account with the right to mark; elsewhere is true if it is in another namespace, and
	// onlyRead if it may only read.
	allowed             string
	elsewhere, onlyRead bool
	// as is the account that is expected to set marks, and marked whether it has the right.
	as     string
	marked bool
}

func TestMarksAreMadeAsTheAccount(t *testing.T) {
	for _, test := range []accountCase{
		{name: "no account is the controller itself", marked: true},
		{name: "an account with the right", account: "tenant", allowed: "tenant", as: "tenant", marked: true},
		{name: "an account without the right that the controller has", account: "tenant", as: "tenant"},
		{name: "an account that may only read", account: "tenant", allowed: "tenant", onlyRead: true, as: "tenant"},
		{name: "an account without the right of another one", account: "tenant", allowed: "other", as: "tenant"},
		{name: "an account of that name in another namespace has the right", account: "tenant", allowed: "tenant", elsewhere: true, as: "tenant"},
		{name: "the default account has the right", byDefault: "default", allowed: "default", as: "default", marked: true},
		{name: "the default account has no right", byDefault: "default", as: "default"},
		{name: "an account before a default with the right", account: "tenant", byDefault: "default", allowed: "default", as: "tenant"},
		{name: "an account before a default without the right", account: "tenant", byDefault: "default", allowed: "tenant", as: "tenant", marked: true},
	} {
		t.Run(test.name, func(t *testing.T) { marksAsAccount(t, test) })
	}
}

func (test accountCase) grant(c *liveCluster) {
	user := c.account(test.allowed)
	if test.elsewhere {
		user = c.neighbor().account(test.allowed)
	}
	switch {
	case test.onlyRead:
		c.allow(user, read(platformGroup, "applicationdefinitions"))
	case test.allowed != "":
		c.allow(user, mark())
	}
}

func marksAsAccount(t *testing.T, test accountCase) {
	t.Helper()
	c := publishing(t)
	c.actAs(restConfig, test.byDefault)
	c.edit(as(test.account))
	test.grant(c)
	c.look()
	c.bypass("argocd")
	c.look()
	request, want := "PATCH argocd", appliedAnd()
	if test.as != "" {
		request += " as " + c.account(test.as)
	}
	if test.marked {
		want = appliedAnd("disabled by winnow-marks")
	}
	c.equal("requests", c.wire.taken(), []string{request})
	c.equal("marks", c.marks("argocd"), want)
	if events := c.forbidden(); (events == 1) == test.marked || events > 1 {
		t.Errorf("%d events about the missing right", events)
	}
	c.look()
	if events := c.forbidden(); events > 0 {
		t.Error("the event is repeated")
	}
}

func TestATenantMarksOnlyDefinitionsThatItMayChange(t *testing.T) {
	c := publishing(t)
	c.edit(as("tenant"))
	c.allow(c.account("tenant"), mark("argocd"))
	c.bypass("argocd", "nginx")
	cs := c.look()
	c.equal("marks of the definition that it may change", c.marks("argocd"), appliedAnd("disabled by winnow-marks"))
	c.equal("marks of the other definition", c.marks("nginx"), appliedAnd())
	c.equal("bypassed", cs.Status.Bypassed, []string{"argocd", "nginx"})
	c.equal("conditions", conditionsOf(cs), []string{"Ready=True Succeeded"})
	message := c.events.message
	for _, part := range []string{c.account("tenant"), "nginx", "definitions are not marked"} {
		if !strings.Contains(message, part) {
			t.Errorf("the event %q does not name %q", message, part)
		}
	}
	if events := c.forbidden(); events != 1 {
		t.Errorf("%d events about the missing right", events)
	}
	c.unchanged()

	c.allow(c.account("tenant"), mark())
	c.look()
	c.equal("marks once it may", c.marks("nginx"), appliedAnd("disabled by winnow-marks"))
}

// An account that lost its rights cannot remove marks either, and the controller does not remove them in its
// place.
func TestATenantRemovesOnlyMarksThatItMayChange(t *testing.T) {
	c := publishing(t)
	c.bypass("argocd", "nginx")
	c.look()
	c.edit(as("tenant"))
	c.allow(c.account("tenant"), mark("argocd"))
	c.unlabel("argocd", v1alpha1.BypassLabel)
	c.unlabel("nginx", v1alpha1.BypassLabel)
	c.look()
	c.equal("marks of the definition that it may change", c.marks("argocd"), appliedAnd())
	c.equal("marks of the other definition", c.marks("nginx"), appliedAnd("disabled by winnow-marks"))
	c.equal("events about the missing right", c.forbidden(), 1)
}

func TestATenantLabelsOnlyDefinitionsThatItMayChange(t *testing.T) {
	c := withOrphan(t)
	c.create("tempo")
	c.edit(as("tenant"))
	c.allow(c.account("tenant"), mark("falco"))
	cs := c.look()
	c.equal("marks of the definition that it may change", c.marks("falco"), []string{"unmanaged true by winnow-marks"})
	c.equal("marks of the other definition", c.marks("tempo"), []string(nil))
	c.equal("unmanaged", cs.Status.Summary.Unmanaged, 1)
	c.equal("events about the missing right", c.forbidden(), 1)
}

// The first publication contains a bypassed definition that the account may not mark.
func TestAForbiddenMarkDoesNotHoldThePublication(t *testing.T) {
	c := newCluster(t)
	c.create("argocd")
	c.bypass("argocd")
	c.catalog("argocd")
	c.selection("kkp", as("tenant"))
	c.consumer("apps", "kkp")
	c.publish("kkp")
	c.equal("marks", c.marks("argocd"), []string(nil))
	c.equal("events about the missing right", c.forbidden(), 1)
}

func TestAMissingRightToImpersonateIsReported(t *testing.T) {
	c := publishing(t)
	c.runAs(mark(), read(platformGroup, "applicationdefinitions"), readKustomizations())
	c.edit(as("tenant"))
	c.bypass("argocd")
	c.look()
	c.equal("marks", c.marks("argocd"), appliedAnd())
	c.equal("events about the missing right", c.forbidden(), 1)
}

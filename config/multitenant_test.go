// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/kustomize/api/resmap"
)

// multitenant maps the overlays for clusters with tenants to the installations that they lock down.
var multitenant = map[string]string{
	"overlays/multitenant":             "default",
	"overlays/multitenant-flux-system": "overlays/flux-system",
}

const defaultAccount = "default"

func TestMultitenantControllersHaveFluxsFlags(t *testing.T) {
	for dir, base := range multitenant {
		want := append(slices.Clone(argsOf(t, base)), "--no-cross-namespace-refs", "--default-service-account="+defaultAccount)
		if got := argsOf(t, dir); !slices.Equal(got, want) {
			t.Errorf("%s has the arguments %q, want %q", dir, got, want)
		}
	}
}

func argsOf(t *testing.T, dir string) []string {
	t.Helper()
	return deployment(t, build(t, dir)).Spec.Template.Spec.Containers[0].Args
}

// TestMultitenantRights: the controller reads no Secrets, writes no definitions and acts as no account but the
// default one of each namespace.
func TestMultitenantRights(t *testing.T) {
	for dir, base := range multitenant {
		resources := build(t, dir)
		for _, role := range clusterRoles(t, resources) {
			for _, rule := range role.Rules {
				checkTenantSafe(t, dir+": "+role.Name, rule)
			}
		}
		for _, res := range build(t, base).Resources() {
			left := strings.HasPrefix(res.GetKind(), "Role") && res.GetName() == "winnow-controller-registries"
			if _, err := resources.GetByCurrentId(res.CurId()); (err != nil) != left {
				t.Errorf("%s: %s %s: %v", dir, res.GetKind(), res.GetName(), err)
			}
		}
	}
}

func checkTenantSafe(t *testing.T, role string, rule rbacv1.PolicyRule) {
	t.Helper()
	has := func(list []string, word string) bool {
		return slices.Contains(list, word) || slices.Contains(list, "*")
	}
	core := has(rule.APIGroups, "")
	switch {
	case core && has(rule.Resources, "secrets"), core && has(rule.Resources, "serviceaccounts/token"):
		t.Errorf("%s grants %v on %v", role, rule.Verbs, rule.Resources)
	case has(rule.Resources, "applicationdefinitions") && slices.ContainsFunc(rule.Verbs, writes):
		t.Errorf("%s grants %v on definitions", role, rule.Verbs)
	case has(rule.Verbs, "impersonate") &&
		(!slices.Equal(rule.Resources, []string{"serviceaccounts"}) || !slices.Equal(rule.ResourceNames, []string{defaultAccount})):
		t.Errorf("%s impersonates %v %q", role, rule.Resources, rule.ResourceNames)
	case core && has(rule.Resources, "serviceaccounts") && !has(rule.Verbs, "impersonate"):
		t.Errorf("%s grants %v on ServiceAccounts", role, rule.Verbs)
	}
}

// TestMultitenantAggregation: of the rights to CatalogSelections, only those to read are aggregated, until
// config/tenants/editors aggregates the others, which are those of winnow-edit.
func TestMultitenantAggregation(t *testing.T) {
	const label = "rbac.authorization.k8s.io/aggregate-to-"
	toAll := []string{label + "admin", label + "edit", label + "view"}
	for dir := range multitenant {
		resources := build(t, dir)
		for _, role := range clusterRoles(t, resources) {
			want := map[string][]string{"winnow-view": toAll}[role.Name]
			if got := aggregated(role); !slices.Equal(got, want) {
				t.Errorf("%s: %s is aggregated by %v", dir, role.Name, got)
			}
		}
		edit := one[rbacv1.ClusterRole](t, resources, "ClusterRole", "winnow-edit")
		editors := one[rbacv1.ClusterRole](t, build(t, "tenants/editors"), "ClusterRole", "winnow-edit-tenants")
		if !reflect.DeepEqual(editors.Rules, edit.Rules) || len(edit.Rules) == 0 || !slices.Equal(aggregated(editors), toAll[:2]) {
			t.Errorf("config/tenants/editors has %v %+v, winnow-edit of %s %+v", editors.Labels, editors.Rules, dir, edit.Rules)
		}
	}
}

func aggregated(role rbacv1.ClusterRole) (labels []string) {
	for label := range role.Labels {
		if strings.HasPrefix(label, rbacv1.GroupName+"/") {
			labels = append(labels, label)
		}
	}
	slices.Sort(labels)
	return labels
}

// TestRegistriesGrantTheSameWhereverTheyDo: the objects of the base have no namespace, which kubectl -n or a kustomization adds.
func TestRegistriesGrantTheSameWhereverTheyDo(t *testing.T) {
	everywhere := build(t, "registries/all-namespaces")
	rules := one[rbacv1.ClusterRole](t, everywhere, "ClusterRole", "").Rules
	subjects := one[rbacv1.ClusterRoleBinding](t, everywhere, "ClusterRoleBinding", "").Subjects
	for dir, namespace := range map[string]string{"registries": "flux-system", "registries/namespace": ""} {
		resources := build(t, dir)
		role, binding := one[rbacv1.Role](t, resources, "Role", ""), one[rbacv1.RoleBinding](t, resources, "RoleBinding", "")
		if !reflect.DeepEqual(role.Rules, rules) {
			t.Errorf("%s grants %+v, config/registries/all-namespaces %+v", dir, role.Rules, rules)
		}
		if binding.RoleRef.Kind != "Role" || binding.RoleRef.Name != role.Name || !slices.Equal(binding.Subjects, subjects) {
			t.Errorf("the binding of %s is %+v", dir, binding)
		}
		if role.Namespace != namespace || binding.Namespace != namespace || resources.Size() != 2 {
			t.Errorf("%s: namespaces %q and %q of %d objects", dir, role.Namespace, binding.Namespace, resources.Size())
		}
	}
}

func clusterRoles(t *testing.T, resources resmap.ResMap) (roles []rbacv1.ClusterRole) {
	t.Helper()
	for _, res := range resources.Resources() {
		if res.GetKind() == "ClusterRole" {
			roles = append(roles, one[rbacv1.ClusterRole](t, resources, "ClusterRole", res.GetName()))
		}
	}
	if len(roles) < 4 {
		t.Fatalf("%d ClusterRoles", len(roles))
	}
	return roles
}

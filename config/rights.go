// SPDX-License-Identifier: Apache-2.0

// Package config embeds the rules that the controller is bound to, and names what grants a right that is missing: the value of
// the chart and the kustomization. It must not know who needs a right.
package config

import (
	"embed"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/winnow-dev/winnow/render/dialect"
)

//go:embed rbac/role.yaml marks/role.yaml
var roles embed.FS

// What grants the rights of a directory, for messages.
const (
	GrantsRBAC             = "every installation grants it: apply config/rbac again, or upgrade the chart"
	GrantsMarks            = "marks.enabled of the chart, or kubectl apply -k config/marks, grants it"
	GrantsImpersonation    = "multitenant.enabled of the chart, or kubectl apply -k config/tenants, grants it for some accounts"
	GrantsAccount          = "a ClusterRole bound to the account, as docs/security.md#accounts-of-tenants has it, grants it"
	GrantsWorkloadIdentity = "workloadIdentity.enabled of the chart, or kubectl apply -k config/workload-identity, grants it"
)

// GrantsSecrets is what grants the right to read Secrets and ServiceAccounts of a namespace.
func GrantsSecrets(namespace string) string {
	return fmt.Sprintf("registries.namespaces: [%s] of the chart, or kubectl apply -n %[1]s -k config/registries/namespace, grants it; "+
		"registries.allNamespaces, or config/registries/all-namespaces, does in all namespaces", namespace)
}

// Rules returns the rules of the ClusterRole in rbac or marks.
func Rules(dir string) ([]rbacv1.PolicyRule, error) {
	content, err := roles.ReadFile(dir + "/role.yaml")
	if err != nil {
		return nil, err
	}
	var role rbacv1.ClusterRole
	err = dialect.Unmarshal(content, &role)
	return role.Rules, err
}

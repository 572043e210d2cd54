// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"math/big"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/winnow-dev/winnow/cmd/winnow/verbs/imports/bundle"
)

// accounts returns the service accounts of the permissions, without the default one.
func accounts(b *bundle.Bundle, o Options) (objects []map[string]any) {
	names := map[string]bool{}
	for _, one := range slices.Concat(b.CSV.Spec.Install.Spec.Permissions, b.CSV.Spec.Install.Spec.ClusterPermissions) {
		names[accountOf(one)] = true
	}
	delete(names, defaultAccount)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		objects = append(objects, object("v1", "ServiceAccount", o.InstallNamespace, name, nil))
	}
	return objects
}

// roles returns the roles of the permissions, and their bindings. An operator that watches all namespaces has its permissions in
// all of them, and may list namespaces, as with OLM.
func roles(b *bundle.Bundle, o Options) (objects []map[string]any) {
	namespaced, cluster := b.CSV.Spec.Install.Spec.Permissions, slices.Clone(b.CSV.Spec.Install.Spec.ClusterPermissions)
	if len(o.WatchNamespaces) == 0 {
		for _, one := range namespaced {
			one.Rules = append(slices.Clip(one.Rules), rbacv1.PolicyRule{Verbs: []string{"get", "list", "watch"}, APIGroups: []string{""}, Resources: []string{"namespaces"}})
			cluster = append(cluster, one)
		}
	}
	for _, one := range cluster {
		objects = append(objects, bind(b, o, one, "")...)
	}
	for _, namespace := range o.WatchNamespaces {
		for _, one := range namespaced {
			objects = append(objects, bind(b, o, one, namespace)...)
		}
	}
	return objects
}

// accountOf returns the service account of a permission.
func accountOf(one bundle.Permission) string { return cmp.Or(one.Account, defaultAccount) }

// defaultAccount is in each namespace.
const defaultAccount = "default"

// bind returns a role and its binding, in a namespace, or in the cluster without one.
func bind(b *bundle.Bundle, o Options, one bundle.Permission, namespace string) []map[string]any {
	encoded, _ := json.Marshal(one) // texts cannot fail
	name := generatedName(b.CSV.Metadata.Name+"-"+accountOf(one), encoded)
	content := map[string]any{}
	_ = utiljson.Unmarshal(encoded, &content)
	kind := "Role"
	if namespace == "" {
		kind = "ClusterRole"
	}
	return []map[string]any{
		object(rbacv1.SchemeGroupVersion.String(), kind, namespace, name, map[string]any{"rules": content["rules"]}),
		object(rbacv1.SchemeGroupVersion.String(), kind+"Binding", namespace, name, map[string]any{
			"roleRef":  map[string]any{"apiGroup": rbacv1.GroupName, "kind": kind, "name": name},
			"subjects": []any{map[string]any{"kind": "ServiceAccount", "name": accountOf(one), "namespace": o.InstallNamespace}},
		}),
	}
}

// maxName bounds a generated name, as OLM does.
const maxName = 63

// generatedName returns the name that OLM v1 generates: a base with the SHA-224 of the permission in JSON to the base 36, so that other
// permissions have another role.
func generatedName(base string, permission []byte) string {
	sum := sha256.Sum224(append(permission, '\n'))
	suffix := new(big.Int).SetBytes(sum[:]).Text(36)
	if len(base)+len(suffix) > maxName {
		base = base[:maxName-len(suffix)-1]
	}
	return base + "-" + suffix
}

// object returns a manifest. The namespace is empty for kinds without one.
func object(apiVersion, kind, namespace, name string, fields map[string]any) map[string]any {
	metadata := map[string]any{"name": name}
	if namespace != "" {
		metadata["namespace"] = namespace
	}
	made := map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": metadata}
	maps.Copy(made, fields)
	return made
}

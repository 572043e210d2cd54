// SPDX-License-Identifier: Apache-2.0

package patching

import (
	"slices"

	"github.com/fluxcd/pkg/apis/kustomize"
	"sigs.k8s.io/kustomize/api/resource"
)

// referrers and referrals are the kinds whose objects kustomize relates by name: it may write the name and the namespace of
// a referral into a referrer. It compares no groups for some of them.
func referrers() []string {
	return []string{
		"APIService", "ClusterRole", "ClusterRoleBinding", "CronJob", "DaemonSet", "Deployment", "HorizontalPodAutoscaler", "Ingress", "Job",
		"MutatingWebhookConfiguration", "Node", "PersistentVolume", "PersistentVolumeClaim", "Pod", "PodTemplate", "ReplicaSet",
		"ReplicationController", "Role", "RoleBinding", "Service", "ServiceAccount", "StatefulSet", "StorageClass",
		"ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration",
	}
}

func referrals() []string {
	return []string{
		"ClusterRole", "ConfigMap", "Deployment", "IngressClass", "PersistentVolume", "PersistentVolumeClaim", "PriorityClass", "ReplicaSet",
		"ReplicationController", "Role", "Secret", "Service", "ServiceAccount", "StatefulSet", "StorageClass", "ValidatingAdmissionPolicy",
	}
}

// relation says why what kustomize builds of an object may depend on the other objects, empty if it does not. An object
// that a patch renames, and later names as before, may meet others in between.
func relation(objects []*resource.Resource, patches []kustomize.Patch) (string, error) {
	for _, p := range patches {
		read, err := readOperations(p)
		if err != nil {
			return "", err
		}
		if read.relates || read.renames {
			return "a patch sets the apiVersion, kind, name, namespace or all metadata of objects, or annotations of kustomize", nil
		}
	}
	if len(patches) == 0 {
		return "", nil
	}
	has := func(kinds []string) bool {
		return slices.ContainsFunc(objects, func(o *resource.Resource) bool { return slices.Contains(kinds, o.GetKind()) })
	}
	if has(referrers()) && has(referrals()) {
		return "patched objects are of kinds that kustomize relates by name, as a RoleBinding and a ServiceAccount", nil
	}
	return "", nil
}

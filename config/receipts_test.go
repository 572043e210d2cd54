// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
)

// TestReceiptsNeedLittle: the job lists three kinds of objects, reads no Secret by the API and writes nothing.
func TestReceiptsNeedLittle(t *testing.T) {
	const account = "winnow-receipt"
	resources := build(t, "receipts")
	lists := func(resource string, groups ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: groups, Resources: []string{resource}, Verbs: []string{"list"}}
	}
	want := []rbacv1.PolicyRule{
		lists("kustomizations", "kustomize.toolkit.fluxcd.io"), lists("ocirepositories", "source.toolkit.fluxcd.io"),
		lists("applicationdefinitions", "apps.kubermatic.k8c.io", "cozystack.io"),
	}
	if role := one[rbacv1.ClusterRole](t, resources, "ClusterRole", account); !reflect.DeepEqual(role.Rules, want) {
		t.Errorf("the role grants %+v", role.Rules)
	}
	more := build(t, "receipts/uses")
	for _, rule := range one[rbacv1.ClusterRole](t, more, "ClusterRole", account+"-uses").Rules {
		if !slices.Equal(rule.Verbs, []string{"list"}) || slices.Contains(rule.Resources, "*") || slices.Contains(rule.APIGroups, "") {
			t.Errorf("the optional role grants %+v", rule)
		}
	}
	job := one[batchv1.CronJob](t, resources, "CronJob", account)
	pod := job.Spec.JobTemplate.Spec.Template.Spec
	binding := one[rbacv1.ClusterRoleBinding](t, resources, "ClusterRoleBinding", account)
	if subject := (rbacv1.Subject{Kind: "ServiceAccount", Name: pod.ServiceAccountName, Namespace: job.Namespace}); !slices.Equal(binding.Subjects, []rbacv1.Subject{subject}) ||
		binding.RoleRef.Name != account {
		t.Errorf("the binding is %+v", binding)
	}
	if optional := one[rbacv1.ClusterRoleBinding](t, more, "ClusterRoleBinding", account+"-uses"); !slices.Equal(optional.Subjects, binding.Subjects) || optional.RoleRef.Name != account+"-uses" {
		t.Errorf("the optional binding is %+v", optional)
	}
	if s := one[corev1.ServiceAccount](t, resources, "ServiceAccount", account); s.AutomountServiceAccountToken == nil || is(s.AutomountServiceAccountToken) {
		t.Error("other pods get the token of the account, too")
	}
	container := pod.Containers[0]
	security := container.SecurityContext
	if !is(pod.SecurityContext.RunAsNonRoot) || !is(security.ReadOnlyRootFilesystem) || security.AllowPrivilegeEscalation == nil || is(security.AllowPrivilegeEscalation) ||
		!slices.Equal(security.Capabilities.Drop, []corev1.Capability{"ALL"}) || security.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
		t.Errorf("the pod is not hardened: %+v", security)
	}
	if len(pod.Containers) != 1 || container.Resources.Limits.Memory().IsZero() || job.Spec.ConcurrencyPolicy != batchv1.ForbidConcurrent {
		t.Errorf("%+v", job.Spec)
	}
	if ref, err := name.ParseReference(container.Image); err == nil {
		t.Errorf("a node would pull %s", ref)
	}
}

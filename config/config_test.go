// SPDX-License-Identifier: Apache-2.0

// Package config_test builds the kustomizations of this directory as users do, and asserts what
// the manifests promise: names that agree with each other, least privilege, a hardened pod.
package config_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

const controller = "winnow-controller"

// installations are the kustomizations that users install Winnow with, and their namespaces.
var installations = map[string]string{
	"default":                          "winnow-system",
	"overlays/flux-system":             "flux-system",
	"overlays/multitenant":             "winnow-system",
	"overlays/multitenant-flux-system": "flux-system",
}

// TestKustomizationsBuild builds every directory here and in the examples of the API that has a
// kustomization.yaml.
func TestKustomizationsBuild(t *testing.T) {
	built := 0
	for _, root := range []string{".", "../examples/gitops", "../examples/fleet", "../examples/plain-flux"} {
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if err == nil && filepath.Base(path) == "kustomization.yaml" && path != "ha/kustomization.yaml" { // it patches alone
				built++
				t.Run(filepath.Dir(path), func(t *testing.T) { build(t, filepath.Dir(path)) })
			}
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	if built < 18 {
		t.Errorf("built %d kustomizations, expected those of 18 directories at least", built)
	}
}

func TestInstallationsUseOneNamespace(t *testing.T) {
	for dir, namespace := range installations {
		t.Run(dir, func(t *testing.T) {
			for _, res := range build(t, dir).Resources() {
				if res.GetNamespace() == "" || res.GetNamespace() == namespace {
					continue
				}
				if res.GetNamespace() == "flux-system" && (res.GetName() == "allow-winnow" || res.GetName() == controller+"-registries") {
					continue // they let Winnow into Flux's namespace
				}
				t.Errorf("%s %s is in namespace %s", res.GetKind(), res.GetName(), res.GetNamespace())
			}
		})
	}
}

func TestBindingsNameTheServiceAccountOfTheDeployment(t *testing.T) {
	for dir, namespace := range installations {
		t.Run(dir, func(t *testing.T) {
			resources := build(t, dir)
			account := one[corev1.ServiceAccount](t, resources, "ServiceAccount", controller)
			if got := deployment(t, resources).Spec.Template.Spec.ServiceAccountName; got != account.Name {
				t.Errorf("the Deployment runs as %q, the ServiceAccount is %q", got, account.Name)
			}
			want := []rbacv1.Subject{{Kind: "ServiceAccount", Name: account.Name, Namespace: namespace}}
			cluster := one[rbacv1.ClusterRoleBinding](t, resources, "ClusterRoleBinding", controller)
			if !slices.Equal(cluster.Subjects, want) {
				t.Errorf("ClusterRoleBinding: subjects %v, want %v", cluster.Subjects, want)
			}
			one[rbacv1.ClusterRole](t, resources, cluster.RoleRef.Kind, cluster.RoleRef.Name)
			leader := one[rbacv1.RoleBinding](t, resources, "RoleBinding", controller+"-leader-election")
			if !slices.Equal(leader.Subjects, want) {
				t.Errorf("RoleBinding: subjects %v, want %v", leader.Subjects, want)
			}
			one[rbacv1.Role](t, resources, leader.RoleRef.Kind, leader.RoleRef.Name)
		})
	}
}

// TestControllerRoleIsLeastPrivilege: the controller reads sources and writes its own kind,
// ExternalArtifacts and events. Secrets, application definitions and wildcards are not for it.
// What is optional grants no more than it says.
func TestControllerRoleIsLeastPrivilege(t *testing.T) {
	allowed := map[string][]string{
		"":                            {"events"},
		"catalog.winnow.dev":          {"catalogselections", "catalogselections/finalizers", "catalogselections/status"},
		"kustomize.toolkit.fluxcd.io": {"kustomizations"},
		"source.toolkit.fluxcd.io":    {"buckets", "externalartifacts", "externalartifacts/status", "gitrepositories", "ocirepositories"},
	}
	readOnly := []string{"kustomizations", "buckets", "gitrepositories", "ocirepositories"}
	role := one[rbacv1.ClusterRole](t, build(t, "rbac"), "ClusterRole", controller)
	if len(role.Rules) == 0 {
		t.Fatal("the role is empty")
	}
	for _, rule := range role.Rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				if !slices.Contains(allowed[group], resource) {
					t.Errorf("the role grants %v on %s of group %q", rule.Verbs, resource, group)
				}
				if slices.Contains(readOnly, resource) && slices.ContainsFunc(rule.Verbs, writes) {
					t.Errorf("the role grants %v on %s", rule.Verbs, resource)
				}
			}
		}
		if len(rule.NonResourceURLs) > 0 || slices.Contains(rule.Verbs, "*") {
			t.Errorf("the role has a rule that is too wide: %+v", rule)
		}
	}
}

func TestOptionalRolesGrantNoMoreThanTheySay(t *testing.T) {
	reads := func(group, resource string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: []string{"get", "list", "watch"}}
	}
	for dir, want := range map[string][]rbacv1.PolicyRule{
		"marks": {
			{
				APIGroups: []string{"apps.kubermatic.k8c.io", "cozystack.io"}, Resources: []string{"applicationdefinitions"},
				Verbs: []string{"get", "list", "watch", "patch"},
			},
			reads("helm.toolkit.fluxcd.io", "helmreleases"), reads("apps.kubermatic.k8c.io", "applicationinstallations"),
			reads("infra.contrib.fluxcd.io", "terraforms"), reads("apps.cozystack.io", "*"),
			reads("olm.operatorframework.io", "clusterextensions"), {
				APIGroups: []string{"operators.coreos.com"}, Resources: []string{"subscriptions", "operatorgroups"}, Verbs: []string{"get", "list", "watch"},
			},
		},
		"registries/all-namespaces": {{APIGroups: []string{""}, Resources: []string{"secrets", "serviceaccounts"}, Verbs: []string{"get"}}},
		"workload-identity":         {{APIGroups: []string{""}, Resources: []string{"serviceaccounts/token"}, Verbs: []string{"create"}}},
		"tenants":                   {{APIGroups: []string{""}, Resources: []string{"serviceaccounts"}, Verbs: []string{"impersonate"}}},
	} {
		resources := build(t, dir)
		name, _, _ := strings.Cut(dir, "/")
		role := one[rbacv1.ClusterRole](t, resources, "ClusterRole", controller+"-"+name)
		if !reflect.DeepEqual(role.Rules, want) {
			t.Errorf("%s grants %+v", dir, role.Rules)
		}
		binding := one[rbacv1.ClusterRoleBinding](t, resources, "ClusterRoleBinding", controller+"-"+name)
		if binding.RoleRef.Name != role.Name || len(binding.Subjects) != 1 || binding.Subjects[0].Name != controller {
			t.Errorf("%s binds %+v", dir, binding)
		}
	}
}

// TestNoInstallationReadsSecretsOfAllNamespaces: one reads those of Flux's namespace alone, and one for tenants none.
func TestNoInstallationReadsSecretsOfAllNamespaces(t *testing.T) {
	for dir := range installations {
		t.Run(dir, func(t *testing.T) {
			var got []string
			for _, res := range build(t, dir).Resources() {
				if strings.HasSuffix(res.GetKind(), "Role") && strings.Contains(res.MustYaml(), "- secrets\n") {
					got = append(got, res.GetKind()+" "+res.GetNamespace()+"/"+res.GetName())
				}
			}
			want := []string{"Role flux-system/winnow-controller-registries"}
			if strings.Contains(dir, "multitenant") {
				want = nil
			}
			if !slices.Equal(got, want) {
				t.Errorf("Secrets are read by %v, want %v", got, want)
			}
		})
	}
}

func writes(verb string) bool { return !slices.Contains([]string{"get", "list", "watch"}, verb) }

func TestAggregatedRoles(t *testing.T) {
	resources := build(t, "rbac")
	for name, write := range map[string]bool{"winnow-edit": true, "winnow-view": false} {
		role := one[rbacv1.ClusterRole](t, resources, "ClusterRole", name)
		toView := role.Labels["rbac.authorization.k8s.io/aggregate-to-view"] == "true"
		if write == toView || role.Labels["rbac.authorization.k8s.io/aggregate-to-admin"] != "true" {
			t.Errorf("%s has labels %v", name, role.Labels)
		}
		for _, rule := range role.Rules {
			if !slices.Equal(rule.APIGroups, []string{v1alpha1.GroupVersion.Group}) {
				t.Errorf("%s covers the groups %v", name, rule.APIGroups)
			}
			if slices.ContainsFunc(rule.Verbs, writes) != write {
				t.Errorf("%s has the verbs %v", name, rule.Verbs)
			}
		}
	}
}

func TestPodIsHardened(t *testing.T) {
	pod := deployment(t, build(t, "default")).Spec.Template.Spec
	if len(pod.Containers) != 1 || len(pod.InitContainers) != 0 {
		t.Fatalf("the pod has %d containers", len(pod.Containers))
	}
	security := pod.Containers[0].SecurityContext
	for name, got := range map[string]bool{
		"pod: runAsNonRoot":                 is(pod.SecurityContext.RunAsNonRoot),
		"pod: seccomp RuntimeDefault":       pod.SecurityContext.SeccompProfile.Type == corev1.SeccompProfileTypeRuntimeDefault,
		"pod: fsGroup 1337":                 pod.SecurityContext.FSGroup != nil && *pod.SecurityContext.FSGroup == 1337,
		"container: runAsNonRoot":           is(security.RunAsNonRoot),
		"container: readOnlyRootFilesystem": is(security.ReadOnlyRootFilesystem),
		"container: no escalation":          security.AllowPrivilegeEscalation != nil && !*security.AllowPrivilegeEscalation,
		"container: no capabilities":        slices.Equal(security.Capabilities.Drop, []corev1.Capability{"ALL"}) && len(security.Capabilities.Add) == 0,
		"container: seccomp RuntimeDefault": security.SeccompProfile.Type == corev1.SeccompProfileTypeRuntimeDefault,
		"container: memory limit":           !pod.Containers[0].Resources.Limits.Memory().IsZero(),
	} {
		if !got {
			t.Errorf("not so: %s", name)
		}
	}
	for _, mount := range pod.Containers[0].VolumeMounts {
		if !slices.ContainsFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == mount.Name && v.EmptyDir != nil }) {
			t.Errorf("%s is no emptyDir", mount.MountPath)
		}
	}
}

func is(b *bool) bool { return b != nil && *b }

// TestStorageAddressIsTheService: the advertised host must be the Service, whose port must lead to
// the storage, on which readiness is probed as well.
func TestStorageAddressIsTheService(t *testing.T) {
	resources := build(t, "default")
	service := one[corev1.Service](t, resources, "Service", controller)
	workload := deployment(t, resources)
	container := workload.Spec.Template.Spec.Containers[0]
	want := "--storage-adv-addr=" + service.Name + ".$(RUNTIME_NAMESPACE).svc.cluster.local."
	if !slices.Contains(container.Args, want) {
		t.Errorf("args %v lack %s", container.Args, want)
	}
	port := service.Spec.Ports[0]
	if port.Port != 80 || port.TargetPort.StrVal != "http" || container.ReadinessProbe.HTTPGet.Port.StrVal != "http" {
		t.Errorf("Service port %v, readiness %v", port, container.ReadinessProbe.HTTPGet)
	}
	ports := map[string]int32{}
	for _, p := range container.Ports {
		ports[p.Name] = p.ContainerPort
	}
	if ports["http"] != 9090 || ports["http-prom"] != 8080 || ports["healthz"] != 9440 {
		t.Errorf("container ports %v", ports)
	}
	for key, value := range service.Spec.Selector {
		if workload.Spec.Template.Labels[key] != value {
			t.Errorf("the Service selects %s=%s, the pods have %v", key, value, workload.Spec.Template.Labels)
		}
	}
}

func TestNetworkPolicySelectsThePods(t *testing.T) {
	resources := build(t, "default")
	labels := deployment(t, resources).Spec.Template.Labels
	policy := one[networkingv1.NetworkPolicy](t, resources, "NetworkPolicy", controller)
	for key, value := range policy.Spec.PodSelector.MatchLabels {
		if labels[key] != value {
			t.Errorf("the policy selects %s=%s, the pods have %v", key, value, labels)
		}
	}
	for _, rule := range policy.Spec.Ingress {
		if len(rule.Ports) != 1 || len(rule.From) == 0 {
			t.Errorf("a rule is open: %+v", rule)
		}
	}
	flux := one[networkingv1.NetworkPolicy](t, resources, "NetworkPolicy", "allow-winnow")
	if flux.Namespace != "flux-system" {
		t.Errorf("allow-winnow is in namespace %s", flux.Namespace)
	}
}

func TestPolicyNamesTheServiceAccount(t *testing.T) {
	resources := build(t, "policies")
	const name = "winnow-external-artifact-writers"
	policy := one[admissionv1.ValidatingAdmissionPolicy](t, resources, "ValidatingAdmissionPolicy", name)
	binding := one[admissionv1.ValidatingAdmissionPolicyBinding](t, resources, "ValidatingAdmissionPolicyBinding", name)
	if binding.Spec.PolicyName != policy.Name {
		t.Errorf("the binding binds %q", binding.Spec.PolicyName)
	}
	account := one[corev1.ServiceAccount](t, build(t, "default"), "ServiceAccount", controller)
	want := "'system:serviceaccount:" + account.Namespace + ":" + account.Name + "'"
	// config/policies/kustomization.yaml shows a patch of the first variable.
	if got := policy.Spec.Variables[0].Expression; got != want {
		t.Errorf("the policy lets %s write, want %s", got, want)
	}
}

func TestSamplesFitTheAPI(t *testing.T) {
	for _, dir := range []string{
		"samples", "../examples/gitops", "../examples/fleet/hub",
		"../examples/plain-flux/clusters/staging", "../examples/plain-flux/clusters/production",
	} {
		found := 0
		for _, res := range build(t, dir).Resources() {
			if res.GetKind() != v1alpha1.CatalogSelectionKind {
				continue
			}
			found++
			selection := one[v1alpha1.CatalogSelection](t, build(t, dir), res.GetKind(), res.GetName())
			if selection.APIVersion != v1alpha1.GroupVersion.String() || len(selection.Spec.Sources) == 0 {
				t.Errorf("%s/%s: %+v", dir, res.GetName(), selection)
			}
		}
		if found == 0 {
			t.Errorf("%s holds no CatalogSelection", dir)
		}
	}
}

// TestExampleIsWiredTogether: the selection reads the repository, the Kustomization the selection,
// and the registry is named in one place, which tests and users replace.
func TestExampleIsWiredTogether(t *testing.T) {
	resources := build(t, "../examples/gitops")
	type reference struct{ Kind, Name string }
	var (
		repository = one[struct {
			Metadata struct{ Name string }
			Spec     struct{ URL string }
		}](t, resources, "OCIRepository", "")
		selection     = one[v1alpha1.CatalogSelection](t, resources, v1alpha1.CatalogSelectionKind, "")
		kustomization = one[struct {
			Spec struct{ SourceRef reference }
		}](t, resources, "Kustomization", "")
	)
	if selection.Spec.Sources[0].Name != repository.Metadata.Name {
		t.Errorf("the selection's source is %s, the repository %s", selection.Spec.Sources[0].Name, repository.Metadata.Name)
	}
	if want := (reference{"ExternalArtifact", selection.Name}); kustomization.Spec.SourceRef != want {
		t.Errorf("the Kustomization's source is %v, want %v", kustomization.Spec.SourceRef, want)
	}
	all, err := resources.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(all), "registry.example.com"); n != 1 {
		t.Errorf("the registry is named %d times, want once", n)
	}
}

func build(t *testing.T, dir string) resmap.ResMap {
	t.Helper()
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		t.Fatalf("building %s: %v", dir, err)
	}
	if resources.Size() == 0 {
		t.Fatalf("building %s: no resources", dir)
	}
	return resources
}

func deployment(t *testing.T, resources resmap.ResMap) appsv1.Deployment {
	t.Helper()
	return one[appsv1.Deployment](t, resources, "Deployment", controller)
}

// one returns the only object of a kind and, unless empty, a name. For typed objects, fields that
// the type does not know are errors.
func one[T any](t *testing.T, resources resmap.ResMap, kind, name string) T {
	t.Helper()
	var found []T
	for _, res := range resources.Resources() {
		if res.GetKind() != kind || name != "" && res.GetName() != name {
			continue
		}
		data, err := res.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		var object T
		unmarshal := func(data []byte, into any) error { return yaml.Unmarshal(data, into) }
		if _, typed := any(&object).(interface{ GetName() string }); typed {
			unmarshal = func(data []byte, into any) error { return yaml.UnmarshalStrict(data, into) }
		}
		if err := unmarshal(data, &object); err != nil {
			t.Fatalf("%s %s: %v", kind, res.GetName(), err)
		}
		found = append(found, object)
	}
	if len(found) != 1 {
		t.Fatalf("%d objects %s %s, want one", len(found), kind, name)
	}
	return found[0]
}

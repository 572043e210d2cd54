// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"os"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// TestFleetIsWiredTogether: the selections read the repository of the hub, each pushes to its own place,
// and the Secret that this needs is what the role lets Winnow read.
func TestFleetIsWiredTogether(t *testing.T) {
	hub := build(t, "../examples/fleet/hub")
	catalog := one[sourcev1.OCIRepository](t, hub, "OCIRepository", "")
	role := one[rbacv1.Role](t, hub, "Role", "")
	binding := one[rbacv1.RoleBinding](t, hub, "RoleBinding", "")
	account := one[corev1.ServiceAccount](t, build(t, "default"), "ServiceAccount", controller)
	if want := []rbacv1.Subject{{Kind: "ServiceAccount", Name: account.Name, Namespace: account.Namespace}}; !slices.Equal(binding.Subjects, want) || binding.RoleRef.Name != role.Name {
		t.Errorf("the binding is %+v", binding)
	}
	for _, fleet := range []string{"datacenter", "edge"} {
		selection := one[v1alpha1.CatalogSelection](t, hub, v1alpha1.CatalogSelectionKind, fleet)
		push := selection.Spec.Push
		if selection.Spec.Sources[0].Name != catalog.Name || path.Base(push.URL) != fleet {
			t.Errorf("%s is rendered from %s, and pushed to %s", fleet, selection.Spec.Sources[0].Name, push.URL)
		}
		want := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"}, ResourceNames: []string{push.SecretRef.Name, "registry-ca"}}
		if len(role.Rules) != 1 || !reflect.DeepEqual(role.Rules[0], want) {
			t.Errorf("the role grants %+v, want %+v", role.Rules, want)
		}
	}
}

// TestSpokesArePlainFlux: two objects of Flux, which pull what the hub pushes.
func TestSpokesArePlainFlux(t *testing.T) {
	hub := build(t, "../examples/fleet/hub")
	for spoke, fleet := range map[string]string{"staging": "datacenter", "production": "datacenter", "edge": "edge"} {
		resources := build(t, "../examples/fleet/spokes/"+spoke)
		repository := one[sourcev1.OCIRepository](t, resources, "OCIRepository", "")
		kustomization := one[kustomizev1.Kustomization](t, resources, "Kustomization", "")
		if resources.Size() != 2 {
			t.Errorf("%s has %d objects, want two", spoke, resources.Size())
		}
		selection := one[v1alpha1.CatalogSelection](t, hub, v1alpha1.CatalogSelectionKind, fleet)
		if repository.Spec.URL != selection.Spec.Push.URL {
			t.Errorf("%s pulls %s, the hub pushes %s", spoke, repository.Spec.URL, selection.Spec.Push.URL)
		}
		if isStage := spoke != "edge"; isStage != (repository.Spec.Reference.Digest != "") || !isStage && !slices.Contains(selection.Spec.Push.Tags, repository.Spec.Reference.Tag) {
			t.Errorf("%s follows %+v, the hub sets %v", spoke, repository.Spec.Reference, selection.Spec.Push.Tags)
		}
		if ref := kustomization.Spec.SourceRef; ref.Kind != sourcev1.OCIRepositoryKind || ref.Name != repository.Name {
			t.Errorf("%s applies %+v", spoke, ref)
		}
	}
}

// TestMonitoringSelectsEveryShard: metrics that Prometheus does not read raise no alert.
func TestMonitoringSelectsEveryShard(t *testing.T) {
	monitor := one[struct {
		Spec struct{ Selector metav1.LabelSelector }
	}](t, build(t, "monitoring"), "PodMonitor", controller)
	selector, err := metav1.LabelSelectorAsSelector(&monitor.Spec.Selector)
	if err != nil {
		t.Fatal(err)
	}
	resources := build(t, "../examples/fleet/shards")
	for _, name := range []string{controller, controller + "-shard1"} {
		pod := one[appsv1.Deployment](t, resources, "Deployment", name).Spec.Template
		if !selector.Matches(labels.Set(pod.Labels)) {
			t.Errorf("%s selects no pods of %s, which have %v", selector, name, pod.Labels)
		}
	}
}

// TestShardsShareNothingButRights: each controller has selections, a Service and pods of its own.
func TestShardsShareNothingButRights(t *testing.T) {
	resources := build(t, "../examples/fleet/shards")
	last := func(args []string, flag string) (value string) {
		for _, arg := range args {
			if after, ok := strings.CutPrefix(arg, "--"+flag+"="); ok {
				value = after
			}
		}
		return value
	}
	for name, selector := range map[string]string{controller: "!sharding.fluxcd.io/key", controller + "-shard1": "sharding.fluxcd.io/key=shard1"} {
		workload := one[appsv1.Deployment](t, resources, "Deployment", name)
		service := one[corev1.Service](t, resources, "Service", name)
		policy := one[networkingv1.NetworkPolicy](t, resources, "NetworkPolicy", name)
		pods := map[string]string{"app": name}
		for what, got := range map[string]map[string]string{
			"Deployment": workload.Spec.Selector.MatchLabels, "Service": service.Spec.Selector, "NetworkPolicy": policy.Spec.PodSelector.MatchLabels,
		} {
			if !reflect.DeepEqual(got, pods) {
				t.Errorf("the %s %s selects %v", what, name, got)
			}
		}
		pod := workload.Spec.Template
		if pod.Labels["app"] != name || pod.Spec.ServiceAccountName != controller || workload.Namespace != "winnow-system" {
			t.Errorf("the pods of %s have %v, and run as %s/%s", name, pod.Labels, workload.Namespace, pod.Spec.ServiceAccountName)
		}
		args := pod.Spec.Containers[0].Args
		if got := last(args, "watch-label-selector"); got != selector {
			t.Errorf("%s watches %q", name, got)
		}
		if got, want := last(args, "storage-adv-addr"), name+".$(RUNTIME_NAMESPACE).svc.cluster.local."; got != want {
			t.Errorf("%s is served at %q, want %q", name, got, want)
		}
	}
	sources := one[networkingv1.NetworkPolicy](t, resources, "NetworkPolicy", "allow-winnow-shards")
	if got := sources.Spec.Ingress[0].From[0].PodSelector.MatchExpressions[0].Values; !slices.Equal(got, []string{controller + "-shard1"}) {
		t.Errorf("allow-winnow-shards admits %v", got)
	}
}

// TestTheDashboardIsLoadedAsItIs: the sidecar of Grafana finds it by the label, and Flux must not replace its variables.
func TestTheDashboardIsLoadedAsItIs(t *testing.T) {
	dashboard := one[corev1.ConfigMap](t, build(t, "monitoring"), "ConfigMap", "winnow-dashboard")
	if dashboard.Labels["grafana_dashboard"] != "1" || dashboard.Annotations["kustomize.toolkit.fluxcd.io/substitute"] != "disabled" ||
		dashboard.Namespace != "winnow-system" {
		t.Errorf("the ConfigMap has %+v", dashboard.ObjectMeta)
	}
	want, err := os.ReadFile("monitoring/dashboards/winnow.json")
	if err != nil || dashboard.Data["winnow.json"] != string(want) {
		t.Errorf("it has not the file as it is (%v)", err)
	}
}

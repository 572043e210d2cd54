// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/stack"
)

// lockDown starts a system of its own in which Flux and Winnow are locked down for tenants. Winnow moves from
// config/default to config/overlays/multitenant as docs/security.md describes it.
func lockDown(t *testing.T) {
	t.Helper()
	useOwnSystem(t, "--no-cross-namespace-refs=true", "--default-service-account=default")
	before := controllerArgs(t)
	if err := system.ApplyKustomization(t.Context(), "config/overlays/multitenant"); err != nil {
		t.Fatal(err)
	}
	name := metav1.ObjectMeta{Name: stack.WinnowController + "-registries", Namespace: stack.FluxNamespace}
	for _, o := range []client.Object{&rbacv1.RoleBinding{ObjectMeta: name}, &rbacv1.Role{ObjectMeta: name}} {
		if err := system.Client().Delete(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	args := slices.DeleteFunc(controllerArgs(t), func(arg string) bool { return slices.Contains(before, arg) })
	if len(args) != 2 {
		t.Fatalf("the overlay adds the arguments %q", args)
	}
	aggregateRoles(t)
	s := &scenario{t: t}
	s.awaitAllowed(false, theController, "get", "", "secrets", metav1.NamespaceDefault)
	s.awaitAllowed(false, theController, "patch", "apps.kubermatic.k8c.io", "applicationdefinitions", "")
	if err := system.restart(t.Context(), stack.ControllerOptions{Args: args}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			log, _ := system.controller.Logs()
			t.Logf("end of the controller's log:\n%s", log[max(0, len(log)-8192):])
		}
	})
}

// controllerArgs returns the arguments of the Deployment, which has no pods here.
func controllerArgs(t *testing.T) []string {
	t.Helper()
	deployment := &appsv1.Deployment{}
	key := client.ObjectKey{Namespace: stack.WinnowNamespace, Name: stack.WinnowController}
	if err := system.Client().Get(t.Context(), key, deployment); err != nil {
		t.Fatal(err)
	}
	return deployment.Spec.Template.Spec.Containers[0].Args
}

// aggregateRoles writes the rules of the aggregated roles of namespaces, as kube-controller-manager would, which
// does not run here.
func aggregateRoles(t *testing.T) {
	t.Helper()
	for _, name := range []string{"view", "edit", "admin"} { // each is part of the next one
		role, all := &rbacv1.ClusterRole{}, &rbacv1.ClusterRoleList{}
		if err := system.Client().Get(t.Context(), client.ObjectKey{Name: name}, role); err != nil {
			t.Fatal(err)
		}
		if err := system.Client().List(t.Context(), all); err != nil {
			t.Fatal(err)
		}
		role.Rules = nil
		for i := range role.AggregationRule.ClusterRoleSelectors {
			selector, err := metav1.LabelSelectorAsSelector(&role.AggregationRule.ClusterRoleSelectors[i])
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range all.Items {
				if part.Name != name && selector.Matches(labels.Set(part.Labels)) {
					role.Rules = append(role.Rules, part.Rules...)
				}
			}
		}
		if err := system.Client().Update(t.Context(), role); err != nil {
			t.Fatal(err)
		}
	}
}

// theController is the user name of Winnow's ServiceAccount.
const theController = "system:serviceaccount:" + stack.WinnowNamespace + ":" + stack.WinnowController

// awaitAllowed waits until the API server allows a user to do something, or does not: it observes a new right
// after a moment.
func (s *scenario) awaitAllowed(want bool, user, verb, group, resource, namespace string) {
	s.t.Helper()
	s.await(fmt.Sprintf("%s may %s %s in %q: %t", user, verb, resource, namespace, want), func(ctx context.Context) error {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: user, ResourceAttributes: &authorizationv1.ResourceAttributes{
				Verb: verb, Group: group, Resource: resource, Namespace: namespace,
			},
		}}
		if err := system.Client().Create(ctx, review); err != nil {
			return err
		}
		if review.Status.Allowed != want {
			return fmt.Errorf("allowed is %t", review.Status.Allowed)
		}
		return nil
	})
}

// awaitEditing waits until a user may create CatalogSelections in the namespace, or may not.
func (s *scenario) awaitEditing(want bool, user string) {
	s.t.Helper()
	s.awaitAllowed(want, user, "create", v1alpha1.GroupVersion.Group, "catalogselections", s.name)
}

// tenant is a namespace with ServiceAccounts, whose Kustomizations act as the account "applier". The default
// account has no rights.
type tenant struct {
	*estate
}

// newTenant creates a tenant with a catalog of its own. Its applier may write the definitions of catalogOf(name).
func newTenant(t *testing.T, name string, apps []app) tenant {
	t.Helper()
	e := tenant{newEstate(t, name, apps)}
	e.commit([]string{fmt.Sprintf(`---
apiVersion: v1
kind: ServiceAccount
metadata: {name: default, namespace: %[1]s}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: applier, namespace: %[1]s}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: e2e-applier-of-%[1]s}
rules:
- {apiGroups: [apps.kubermatic.k8c.io], resources: [applicationdefinitions], verbs: [create]}
- {apiGroups: [apps.kubermatic.k8c.io], resources: [applicationdefinitions], verbs: [get, patch, delete], resourceNames: [%[1]s-a, %[1]s-b, %[1]s-c]}
`, name), e.binding("e2e-applier-of-"+name, "applier")})
	return e
}

// binding returns the manifest of a ClusterRoleBinding to an account of the tenant.
func (e tenant) binding(role, account string) string {
	return fmt.Sprintf(`---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: %[1]s-%[2]s-%[3]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %[1]s}
subjects: [{kind: ServiceAccount, name: %[2]s, namespace: %[3]s}]
`, role, account, e.name)
}

// defaultAccount returns the user name of the account "default" of the tenant.
func (e tenant) defaultAccount() string { return "system:serviceaccount:" + e.name + ":default" }

// publish selects the catalog of the tenant, and waits until its applications are applied. It returns the UIDs of
// the definitions.
func (e tenant) publish(apps ...string) map[string]types.UID {
	e.t.Helper()
	e.commit([]string{e.selecting("apps"), e.applying("apps", "apps", "serviceAccountName: applier")})
	return e.awaitParts(part{"apps", "apps", apps})
}

// awaitForbidden waits for an event about a missing right with the text.
func (e tenant) awaitForbidden(text string) {
	e.t.Helper()
	e.await("the event "+text, func(ctx context.Context) error {
		var events corev1.EventList
		if err := system.Client().List(ctx, &events, client.InNamespace(e.name)); err != nil {
			return err
		}
		var messages []string
		for _, event := range events.Items {
			if event.Reason == v1alpha1.MarksForbiddenReason {
				messages = append(messages, event.Message)
			}
		}
		if !strings.Contains(strings.Join(messages, "\n"), text) {
			return fmt.Errorf("the events are %q", messages)
		}
		return nil
	})
}

// markers is the role of docs/security.md for accounts that set marks.
const markers = `---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: mark-applications}
rules:
- {apiGroups: [apps.kubermatic.k8c.io], resources: [applicationdefinitions], verbs: [patch]}
`

// createAs creates the objects of a kustomization in the namespace of the tenant as a user, as `kubectl create -n
// NAMESPACE -k` does.
func (e tenant) createAs(user, dir string) {
	e.t.Helper()
	config := system.RESTConfig()
	config.Impersonate = rest.ImpersonationConfig{UserName: user}
	impersonating, err := client.New(config, client.Options{Scheme: system.Client().Scheme()})
	if err != nil {
		e.t.Fatal(err)
	}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), filepath.Join(system.root, dir))
	if err != nil {
		e.t.Fatal(err)
	}
	for _, res := range built.Resources() {
		content, err := res.Map()
		if err != nil {
			e.t.Fatal(err)
		}
		object := &unstructured.Unstructured{Object: content}
		object.SetNamespace(e.name)
		if err := impersonating.Create(e.t.Context(), object); err != nil {
			e.t.Fatal(err)
		}
	}
}

// bindingIn returns the manifest of a RoleBinding in the namespace of the tenant, of a ClusterRole to a user.
func (e tenant) bindingIn(role, user string) string {
	return fmt.Sprintf(`---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: %[1]s, namespace: %[3]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %[1]s}
subjects: [{kind: User, apiGroup: rbac.authorization.k8s.io, name: %[2]s}]
`, role, user, e.name)
}

// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	"github.com/fluxcd/pkg/runtime/secrets"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// TestMultitenantOverlay: with the rights and the flags of config/overlays/multitenant, and Flux locked down as
// well, a tenant reaches nothing of another one.
func TestMultitenantOverlay(t *testing.T) {
	lockDown(t)
	t.Run("a source of another tenant is refused", refuseForeignSource)
	t.Run("an artifact of another tenant is refused", refuseForeignArtifact)
	t.Run("definitions of another tenant are neither taken nor marked", keepForeignDefinitions)
	t.Run("marks are set as the default account of the namespace", markAsDefaultAccount)
	t.Run("Secrets are read where the Role is", readSecretsByRole)
	t.Run("editors of a namespace select nothing without the opt-in", optIntoEditing)
}

// A source that exists is refused with the same words as one that does not.
func refuseForeignSource(t *testing.T) {
	a, b := newTenant(t, "mtsourcea", catalogOf("mtsourcea")), newTenant(t, "mtsourceb", catalogOf("mtsourceb"))
	b.publish("mtsourceb-a", "mtsourceb-b", "mtsourceb-c")
	for _, source := range []string{b.name, "none"} {
		cs := a.selectionOf("foreign-" + source)
		cs.Spec.Sources = []v1alpha1.SourceReference{{Name: source, Namespace: b.name}}
		a.create(cs)
		got := a.of(cs.Name).awaitStalled(v1alpha1.AccessDeniedReason)
		want := fmt.Sprintf("source OCIRepository %s/%s is in another namespace, and cross-namespace references are "+
			"forbidden by --no-cross-namespace-refs", b.name, source)
		for _, condition := range []string{meta.ReadyCondition, v1alpha1.SourceReadyCondition} {
			if message := conditions.GetMessage(got, condition); message != want {
				t.Errorf("%s has the message %q, want %q", condition, message, want)
			}
		}
		if got.Status.Artifact != nil || len(got.Status.Sources) > 0 {
			t.Errorf("the status is %+v", got.Status)
		}
	}
}

// consumersPolicy is the policy of config/multitenant.
const consumersPolicy = "winnow-external-artifact-consumers"

// Winnow would count a Kustomization of a over the artifact of b as a consumer, even one that Flux never reconciles:
// with a prefix that gives the definitions of b the names of those of a, b could publish nothing more.
func refuseForeignArtifact(t *testing.T) {
	a, b := newTenant(t, "x-mtthief", catalogOf("x-mtthief")), newTenant(t, "mtthief", catalogOf("mtthief"))
	a.publish("x-mtthief-a", "x-mtthief-b", "x-mtthief-c")
	applied := part{"apps", "apps", []string{"mtthief-a", "mtthief-b", "mtthief-c"}}
	b.publish(applied.apps...)
	thief, own := a.kustomizationOf("thief"), a.kustomizationOf("apps")
	thief.Spec.Interval.Duration = time.Hour
	thief.Spec.SourceRef = kustomizev1.CrossNamespaceSourceReference{Kind: sourcev1.ExternalArtifactKind, Name: "apps", Namespace: a.name}
	a.awaitAdmitted(true, thief)
	thief.Spec.SourceRef.Namespace = b.name
	a.awaitAdmitted(false, thief)
	thief.Spec.Suspend, thief.Spec.NamePrefix = true, "x-"
	a.awaitAdmitted(false, thief)
	a.update(own, func() {})
	own.Spec.SourceRef = thief.Spec.SourceRef
	a.awaitAdmitted(false, own)

	// Of one from before the overlay, Flux applies nothing, and Applied of b shows it. Its metadata can be changed,
	// which Flux does to delete it.
	a.enforce(consumersPolicy, admissionv1.Audit)
	thief.Spec.Suspend, thief.Spec.NamePrefix = false, ""
	a.awaitAdmitted(true, thief)
	a.create(thief)
	b.of("apps").awaitAppliedCondition("False "+v1alpha1.ApplyFailedReason, a.name+"/thief", "cross-namespace references have been blocked")
	a.enforce(consumersPolicy, admissionv1.Deny)
	a.awaitAdmitted(false, own)
	a.update(thief, func() { thief.Labels = map[string]string{"some": "label"} })
	a.remove(thief)
	b.awaitParts(applied)
}

// enforce sets the action of a policy.
func (s *scenario) enforce(policy string, action admissionv1.ValidationAction) {
	s.t.Helper()
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: policy}}
	s.update(binding, func() { binding.Spec.ValidationActions = []admissionv1.ValidationAction{action} })
}

// awaitAdmitted waits until the API server admits the Kustomization, new or changed, or the policy denies it: a
// policy takes effect after a moment.
func (s *scenario) awaitAdmitted(want bool, kustomization *kustomizev1.Kustomization) {
	s.t.Helper()
	s.await(fmt.Sprintf("the Kustomization %s is admitted: %t", kustomization.Name, want), func(ctx context.Context) error {
		var err error
		if object := kustomization.DeepCopy(); object.ResourceVersion == "" {
			err = system.Client().Create(ctx, object, client.DryRunAll)
		} else {
			object.ResourceVersion, object.ManagedFields = "", nil
			err = system.Client().Patch(ctx, object, client.Merge, client.DryRunAll)
		}
		denied := apierrors.IsForbidden(err) && strings.Contains(err.Error(), "may name ExternalArtifacts of its own namespace only")
		switch {
		case want:
			return err
		case !denied:
			return errors.Join(errors.New("not denied by the policy"), err)
		}
		return nil
	})
}

// Tenant a packs definitions with the names of tenant b, and its account may patch them: what b holds is b's.
func keepForeignDefinitions(t *testing.T) {
	a, b := newTenant(t, "mttheft", catalogOf("mtowner")), newTenant(t, "mtowner", catalogOf("mtowner"))
	before := b.publish("mtowner-a", "mtowner-b", "mtowner-c")
	a.commit([]string{markers, a.binding("mark-applications", "default"),
		a.selecting("apps", "cluster: {unmanaged: Label}"), a.applying("apps", "apps", "serviceAccountName: applier")})
	a.awaitAllowed(true, a.defaultAccount(), "patch", "apps.kubermatic.k8c.io", "applicationdefinitions", "")
	a.of("apps").awaitStalled(v1alpha1.ConflictReason)
	b.label(t.Context(), "mtowner-a", v1alpha1.BypassLabel, "true")
	b.awaitForbidden(b.defaultAccount())
	for i := range someIntervals {
		a.of("apps").nudge(fmt.Sprint(i))
	}
	a.of("apps").awaitStalled(v1alpha1.ConflictReason)
	b.assertSameObjects(before, b.uids())
	live := b.get(t.Context(), definitionOf("mtowner-a"))
	if mark := live.GetAnnotations()[reconcileAnnotation]; mark != "" {
		t.Errorf("the definition is marked %q", mark)
	}
	if owner := live.GetLabels()["kustomize.toolkit.fluxcd.io/namespace"]; owner != b.name || live.GetLabels()[v1alpha1.UnmanagedLabel] != "" {
		t.Errorf("the definition has the labels %v", live.GetLabels())
	}
}

func markAsDefaultAccount(t *testing.T) {
	a, b := newTenant(t, "mtmarka", catalogOf("mtmarka")), newTenant(t, "mtmarkb", catalogOf("mtmarkb"))
	a.publish("mtmarka-a", "mtmarka-b", "mtmarka-c")
	b.publish("mtmarkb-a", "mtmarkb-b", "mtmarkb-c")
	a.commit([]string{markers, a.binding("mark-applications", "default")})
	a.awaitAllowed(true, a.defaultAccount(), "patch", "apps.kubermatic.k8c.io", "applicationdefinitions", "")
	a.bypass("mtmarka-a")
	b.label(t.Context(), "mtmarkb-a", v1alpha1.BypassLabel, "true")
	b.awaitForbidden(`User "` + b.defaultAccount() + `" cannot patch resource "applicationdefinitions"`)

	// Another account needs a Role to impersonate it.
	cs := a.selectionOf("apps")
	a.update(cs, func() { cs.Spec.ServiceAccountName = "applier" })
	a.of("apps").awaitSelection("observed", func(*v1alpha1.CatalogSelection) error { return nil })
	a.label(t.Context(), "mtmarka-b", v1alpha1.BypassLabel, "true")
	a.awaitForbidden(`cannot impersonate resource "serviceaccounts"`)
	a.commit([]string{impersonation(a.name, "applier")})
	a.awaitMarkAfterNudges("mtmarka-b")
	if mark := b.get(t.Context(), definitionOf("mtmarkb-a")).GetAnnotations()[reconcileAnnotation]; mark != "" {
		t.Errorf("the definition of b is marked %q by a right that b has not", mark)
	}
	b.commit([]string{b.binding("mark-applications", "default")})
	b.awaitMarkAfterNudges("mtmarkb-a")
}

// impersonation returns the Role of docs/security.md by which Winnow may impersonate an account, and its binding.
func impersonation(namespace, account string) string {
	return fmt.Sprintf(`---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: winnow-accounts, namespace: %[1]s}
rules:
- {apiGroups: [""], resources: [serviceaccounts], resourceNames: [%[2]s], verbs: [impersonate]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: winnow-accounts, namespace: %[1]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: winnow-accounts}
subjects: [{kind: ServiceAccount, name: winnow-controller, namespace: winnow-system}]
`, namespace, account)
}

func readSecretsByRole(t *testing.T) {
	const user, password = "robot", "password-of-the-robot"
	private, err := system.StartSecureRegistry(t.Context(), "mtsecret-registry", user, password)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "catalog")
	for _, a := range catalogOf("mtsecret") {
		writeApp(t, filepath.Join(dir, "applications", a.name), a)
	}
	pushWithPassword(t, private, user, password, dir, "oci://"+private.Host+"/mtsecret:v1")
	a, neighbor := newTenant(t, "mtsecret", catalogOf("mtsecret")[:1]), newTenant(t, "mtsecretb", catalogOf("mtsecretb"))
	a.publish("mtsecret-a")
	login, err := secrets.MakeRegistrySecret("login", a.name, private.Host, user, password)
	if err != nil {
		t.Fatal(err)
	}
	authority, err := secrets.MakeTLSSecret("authority", a.name, secrets.WithCAData(private.CA))
	if err != nil {
		t.Fatal(err)
	}
	a.create(login)
	a.create(authority)
	repository := a.repository()
	a.update(repository, func() {
		repository.Spec.URL, repository.Spec.Insecure = "oci://"+private.Host+"/mtsecret", false
		repository.Spec.SecretRef, repository.Spec.CertSecretRef = &meta.LocalObjectReference{Name: "login"}, &meta.LocalObjectReference{Name: "authority"}
	})
	a.of("apps").awaitSelection("the missing Role is named", func(cs *v1alpha1.CatalogSelection) error {
		message := conditions.GetMessage(cs, meta.ReadyCondition)
		if conditions.GetReason(cs, meta.ReadyCondition) != v1alpha1.FetchFailedReason ||
			!strings.Contains(message, "kubectl apply -n mtsecret -k config/registries/namespace, grants it") {
			return errors.New("not named")
		}
		return nil
	})
	a.commit([]string{a.bindingIn("admin", "adam")})
	a.awaitAllowed(true, "adam", "create", rbacv1.GroupName, "rolebindings", a.name)
	a.createAs("adam", "config/registries/namespace")
	a.awaitParts(part{"apps", "apps", []string{"mtsecret-a", "mtsecret-b", "mtsecret-c"}})
	a.awaitAllowed(true, theController, "get", "", "secrets", a.name)
	a.awaitAllowed(false, theController, "list", "", "secrets", a.name)
	neighbor.awaitAllowed(false, theController, "get", "", "secrets", neighbor.name)
	a.assertSecret(password)
}

func optIntoEditing(t *testing.T) {
	a, b := newTenant(t, "mtedita", catalogOf("mtedita")), newTenant(t, "mteditb", catalogOf("mteditb"))
	a.commit([]string{a.bindingIn("edit", "ann"), a.bindingIn("admin", "adam")})
	b.commit([]string{b.bindingIn("edit", "bob")})
	for user, e := range map[string]tenant{"ann": a, "adam": a, "bob": b} {
		e.awaitAllowed(true, user, "create", "", "configmaps", e.name)
		e.awaitAllowed(true, user, "list", v1alpha1.GroupVersion.Group, "catalogselections", e.name)
		e.awaitEditing(false, user)
	}
	a.commit([]string{a.bindingIn("winnow-edit", "ann")})
	a.awaitEditing(true, "ann")
	b.awaitEditing(false, "ann")
	a.awaitEditing(false, "adam")

	if err := system.ApplyKustomization(t.Context(), "config/tenants/editors"); err != nil {
		t.Fatal(err)
	}
	aggregateRoles(t)
	a.awaitEditing(true, "adam")
	b.awaitEditing(true, "bob")
	a.awaitEditing(false, "bob")
	b.awaitEditing(false, "adam")
}

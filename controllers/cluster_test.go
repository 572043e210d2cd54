// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/access"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
	"github.com/winnow-dev/winnow/controllers/record"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// platformGroup is the API group of the definitions of these tests, and of no other ones.
const platformGroup = "platform.winnow.example"

// liveCluster is an environment with live definitions and Kustomizations, which are deleted after the test.
type liveCluster struct {
	*environment
	group string
	wire  *wire
	// policies are the admission policies of the test.
	policies []client.Object
	// awaited is the number of writes after which the caches were up to date.
	awaited atomic.Int64
}

func newCluster(t *testing.T) *liveCluster {
	t.Helper()
	c := &liveCluster{environment: newEnvironment(t), group: platformGroup, wire: &wire{}}
	c.install(c.group)
	c.actAs(restConfig, "")
	c.followed = c.awaitCaches
	t.Cleanup(c.clear)
	return c
}

// actAs makes the reconciler set marks with the configuration, through the wire.
func (c *liveCluster) actAs(config *rest.Config, defaultServiceAccount string) {
	config = rest.CopyConfig(config)
	config.Wrap(c.wire.wrap)
	options := client.Options{Scheme: apiServer.Scheme(), Mapper: apiServer.RESTMapper()}
	c.reconciler.cluster.Accounts = access.NewAccounts(config, options, defaultServiceAccount)
}

// restart replaces the reconciler by one without state.
func (c *liveCluster) restart() {
	c.Helper()
	c.environment.restart()
	c.actAs(restConfig, "")
}

// clear does not use the context of the test, which has ended.
func (c *liveCluster) clear() {
	ctx := context.Background()
	if err := apiServer.DeleteAllOf(ctx, newDefinition(c.group, "")); client.IgnoreNotFound(err) != nil {
		c.Error(err)
	}
	for _, namespace := range c.namespaces.all() {
		err := apiServer.DeleteAllOf(ctx, &kustomizev1.Kustomization{}, client.InNamespace(namespace))
		if client.IgnoreNotFound(err) != nil {
			c.Error(err)
		}
	}
}

// neighbor returns another namespace of the cluster. It shares the reconciler, like a second selection.
func (c *liveCluster) neighbor() *liveCluster {
	c.Helper()
	namespace := &corev1.Namespace{}
	namespace.Name = c.namespace + "-neighbor"
	if err := apiServer.Create(c.Context(), namespace); err != nil {
		c.Fatal(err)
	}
	c.namespaces.add(namespace.Name)
	e := *c.environment
	e.namespace = namespace.Name
	return &liveCluster{environment: &e, group: c.group, wire: c.wire}
}

// install makes the API server serve the definitions of a group.
func (c *liveCluster) install(group string) {
	c.Helper()
	c.serve(definitionsOfGroup(group))
}

// servedCRDs has the names of the definitions that serve has created: the API server validates them even if they exist.
var servedCRDs = map[string]bool{}

// serve makes the API server serve a kind, for all tests of the package.
func (c *liveCluster) serve(crd *apiextensionsv1.CustomResourceDefinition) {
	c.Helper()
	if servedCRDs[crd.Name] {
		return
	}
	servedCRDs[crd.Name] = true
	if err := apiServer.Create(c.Context(), crd); client.IgnoreAlreadyExists(err) != nil {
		c.Fatal(err)
	}
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: crd.Spec.Group, Version: crd.Spec.Versions[0].Name, Kind: crd.Spec.Names.ListKind})
	c.await(crd.Name+" to be served", func() bool { return apiServer.List(c.Context(), list) == nil })
}

// uninstall removes the group, with all definitions.
func (c *liveCluster) uninstall(group string) {
	c.Helper()
	crd := definitionsOfGroup(group)
	delete(servedCRDs, crd.Name)
	c.remove(crd)
	c.await("definitions of "+group+" to be gone", func() bool {
		return !c.exists(crd)
	})
}

func definitionsOfGroup(group string) *apiextensionsv1.CustomResourceDefinition {
	preserve := true
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Name = "applicationdefinitions." + group
	crd.Spec.Group, crd.Spec.Scope = group, apiextensionsv1.ClusterScoped
	crd.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{
		Kind: "ApplicationDefinition", ListKind: "ApplicationDefinitionList",
		Plural: "applicationdefinitions", Singular: "applicationdefinition",
	}
	crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{
		Name: "v1", Served: true, Storage: true,
		Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
			Type: "object", XPreserveUnknownFields: &preserve,
		}},
		Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
	}}
	return crd
}

func gvkOf(group string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: group, Version: "v1", Kind: "ApplicationDefinition"}
}

func definitionList(group string) *metav1.PartialObjectMetadataList {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(gvkOf(group).GroupVersion().WithKind("ApplicationDefinitionList"))
	return list
}

// await polls until done returns true, because the caches of the watched kinds follow the API server.
func (c *liveCluster) await(what string, done func() bool) {
	c.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !done() {
		if time.Now().After(deadline) {
			c.Fatalf("waited in vain for %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// awaitCaches waits until the caches of all watched kinds are up to date. They are, if nothing of a watched kind was written
// since the last time: a new cache begins with the present state.
func (c *liveCluster) awaitCaches() {
	c.Helper()
	written := apiServer.watched.Load() + c.wire.writes.Load()
	if written == c.awaited.Load() {
		return
	}
	for gvk, reader := range c.reconciler.cluster.Kinds.Readers() {
		c.await("the cache of "+gvk.String(), func() bool {
			return slices.Equal(c.versions(gvk, reader), c.versions(gvk, apiServer))
		})
	}
	c.awaited.Store(written)
}

// versions lists "<namespace>/<name> <resourceVersion>" of the objects of a kind.
func (c *liveCluster) versions(gvk schema.GroupVersionKind, reader client.Reader) []string {
	c.Helper()
	var lines []string
	add := func(o client.Object) {
		lines = append(lines, fmt.Sprintf("%s %s", client.ObjectKeyFromObject(o), o.GetResourceVersion()))
	}
	var err error
	if gvk.Kind == kustomizev1.KustomizationKind {
		var list kustomizev1.KustomizationList
		err = reader.List(c.Context(), &list)
		for i := range list.Items {
			add(&list.Items[i])
		}
	} else {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
		err = reader.List(c.Context(), list)
		for i := range list.Items {
			add(&list.Items[i])
		}
	}
	if err != nil {
		c.Fatalf("listing %s: %v", gvk, err)
	}
	slices.Sort(lines)
	return lines
}

// look reconciles the selection "kkp", and waits for up-to-date caches before and afterwards.
func (c *liveCluster) look() *v1alpha1.CatalogSelection {
	c.Helper()
	c.awaitCaches()
	cs := c.reconcile("kkp")
	c.awaitCaches()
	return cs
}

// consumer creates a Kustomization of the selection's artifact. It applies to this cluster and has applied
// nothing.
func (c *liveCluster) consumer(name, selection string, edit ...func(*kustomizev1.Kustomization)) {
	c.Helper()
	ks := &kustomizev1.Kustomization{}
	ks.Name, ks.Namespace = name, c.namespace
	ks.Spec.Interval = metav1.Duration{Duration: time.Minute}
	ks.Spec.SourceRef = kustomizev1.CrossNamespaceSourceReference{Kind: sourcev1.ExternalArtifactKind, Name: selection}
	for _, f := range edit {
		f(ks)
	}
	if err := apiServer.Create(c.Context(), ks); err != nil {
		c.Fatal(err)
	}
}

func remotely(ks *kustomizev1.Kustomization) {
	ks.Spec.KubeConfig = &meta.KubeConfigReference{SecretRef: &meta.SecretKeyReference{Name: "kubeconfig"}}
}

func (c *liveCluster) kustomization(name string) *kustomizev1.Kustomization {
	c.Helper()
	ks := &kustomizev1.Kustomization{}
	if err := apiServer.Get(c.Context(), c.key(name), ks); err != nil {
		c.Fatal(err)
	}
	return ks
}

// applies makes a Kustomization report that it has applied the artifact of the selection "kkp", with an inventory of
// what it owns of that.
func (c *liveCluster) applies(name string) {
	c.Helper()
	var owned []string
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(gvkOf(c.group).GroupVersion().WithKind(gvkOf(c.group).Kind + "List"))
	if err := apiServer.List(c.Context(), list); err != nil {
		c.Fatal(err)
	}
	last, err := record.Read(c.get("kkp"))
	if err != nil {
		c.Fatal(err)
	}
	for _, object := range list.Items {
		in := slices.ContainsFunc(last.Live(), func(d safeguard.Definition) bool { return d.Name == object.Name })
		if in && object.Labels["kustomize.toolkit.fluxcd.io/name"] == name {
			owned = append(owned, object.GetName())
		}
	}
	c.inventoryOf(name, owned...)
	c.reports(name, consumers.RevisionOf(c.get("kkp")))
}

// reports makes a Kustomization report that it has applied a revision.
func (c *liveCluster) reports(name, revision string) {
	c.Helper()
	c.report(name, func(ks *kustomizev1.Kustomization) { applied(ks, revision) })
}

func applied(ks *kustomizev1.Kustomization, revision string) {
	ks.Status.LastAppliedRevision, ks.Status.LastAttemptedRevision = revision, revision
	ks.Status.Conditions = []metav1.Condition{readyCondition(metav1.ConditionTrue, meta.ReconciliationSucceededReason, "applied")}
}

// fails makes a Kustomization report that its last attempt failed.
func (c *liveCluster) fails(name string) {
	c.Helper()
	c.report(name, func(ks *kustomizev1.Kustomization) {
		ks.Status.Conditions = []metav1.Condition{readyCondition(metav1.ConditionFalse, meta.ReconciliationFailedReason, "no such thing")}
	})
}

func (c *liveCluster) report(name string, edit func(*kustomizev1.Kustomization)) {
	c.Helper()
	ks := c.kustomization(name)
	edit(ks)
	if err := apiServer.Status().Update(c.Context(), ks); err != nil {
		c.Fatal(err)
	}
}

func readyCondition(status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{
		Type: meta.ReadyCondition, Status: status, Reason: reason, Message: message,
		LastTransitionTime: metav1.NewTime(time.Unix(1_700_000_000, 0)),
	}
}

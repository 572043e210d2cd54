// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/render/approval"
)

// fluxManager is the field manager of kustomize-controller.
const fluxManager = "kustomize-controller"

// spoke is a system with config/policies/spoke.
type spoke struct {
	*testing.T
	api client.Client
	kkp *unstructured.Unstructured
}

// lossCase is a request for a definition of Winnow's, and a part of the message that refuses it.
type lossCase struct {
	name     string
	approved string
	request  func(s *spoke, live *unstructured.Unstructured) error
	want     string // empty: the request is not refused
}

const (
	refusedVersion  = "it would lose versions, which uninstalls software: to approve that, add the line argocd/"
	refusedVersions = "it would lose versions, which uninstalls software: to approve that, add the lines argocd/"
	refusedDeletion = "its deletion uninstalls software: to approve that, add the line "
	refusedLabel    = "without the label app.kubernetes.io/managed-by: winnow, its deletion is no longer refused: to approve that, add the line argocd" + toTheConfigMap
	toTheConfigMap  = " to data.approve of the ConfigMap flux-system/winnow-approvals"
)

func lossCases() []lossCase {
	return []lossCase{
		{"what loses nothing", "", applied(managed, "1", "2", "3"), ""},
		{"a version that is added", "", applied(managed, "2", "4", "1", "3"), ""},
		{"a version that is lost", "", applied(managed, "1", "3"), refusedVersion + "2" + toTheConfigMap},
		{"versions that are lost", "", applied(managed, "4"), refusedVersions + "1, argocd/2, argocd/3" + toTheConfigMap},
		{"a version that is lost and approved", "# INFRA-17\n\n argocd/2#2 \r\n", applied(managed, "1", "3"), ""},
		{"one of two that is not approved", "argocd/2", applied(managed, "3"), refusedVersion + "1" + toTheConfigMap},
		{"approvals of other definitions", "argo/2\nargocd2/*\n*\n*/*", applied(managed, "1", "3"), refusedVersion + "2"},
		{"approvals of other versions", "argocd/2.0\nargocd/\nargocd/2/\nargocd/1", applied(managed, "1", "3"), refusedVersion + "2"},
		{"a line with a note", "argocd/2 # INFRA-17\nargocd/2#INFRA-17", applied(managed, "1", "3"), refusedVersion + "2"},
		{"an approval of all versions", "argocd/*", applied(managed, "3"), ""},
		{"an approval of the definition is none of a version", "argocd", applied(managed, "1", "3"), refusedVersion + "2"},
		{"a version that is lost with the label", "argocd/2", applied(nil, "1", "3"), refusedLabel},
		{"the label alone", "argocd/*", applied(nil, "1", "2", "3"), refusedLabel},
		{"the label of what is approved", "argocd", applied(nil, "3"), ""},
		{"an update by an admin", "", func(s *spoke, live *unstructured.Unstructured) error {
			setVersions(live, "3")
			return s.api.Update(s.Context(), live, client.FieldOwner("kubectl-edit"))
		}, ""},
		{"an update by Flux, without an apply", "", func(s *spoke, live *unstructured.Unstructured) error {
			setVersions(live, "3")
			return s.api.Update(s.Context(), live, client.FieldOwner(fluxManager))
		}, refusedVersions + "1, argocd/2" + toTheConfigMap},
		{"a deletion", "argocd/1\nargocd/2\nargocd/3\nargocd/*\nargocd:live", deleted, refusedDeletion + "argocd" + toTheConfigMap},
		{"a deletion that is approved", "argocd", deleted, ""},
		{"a deletion of all", "", func(s *spoke, live *unstructured.Unstructured) error {
			return s.api.DeleteAllOf(s.Context(), live)
		}, refusedDeletion},
	}
}

// formerCases have the language of the key approved: argocd/* stands for all, and what follows a # is a note.
func formerCases() []lossCase {
	return []lossCase{
		{"a version that is lost and approved", "# of May\n argocd/2 # INFRA-17\n", applied(managed, "1", "3"), ""},
		{"one of two that is not approved", "argocd/2", applied(managed, "3"), refusedVersion + "1" + toTheConfigMap},
		{"approvals of other definitions", "argo/2\nargocd2/*", applied(managed, "1", "3"), refusedVersion + "2"},
		{"approvals of other versions", "argocd/2.0\nargocd/", applied(managed, "1", "3"), refusedVersion + "2"},
		{"a line of the other key", "argocd", deleted, refusedDeletion},
		{"an approval of the whole definition", "argocd/*", applied(managed, "3"), ""},
		{"the label of what is approved", "argocd/*", applied(nil, "3"), ""},
		{"a deletion", "argocd/1\nargocd/2\nargocd/3", deleted, refusedDeletion},
		{"a deletion that is approved", "argocd/*", deleted, ""},
	}
}

// applied applies versions as Flux does.
func applied(labels map[string]string, versions ...string) func(*spoke, *unstructured.Unstructured) error {
	return func(s *spoke, live *unstructured.Unstructured) error {
		next := s.kkp.DeepCopy()
		next.SetName(live.GetName())
		next.SetLabels(labels)
		setVersions(next, versions...)
		return s.api.Apply(s.Context(), client.ApplyConfigurationFromUnstructured(next), client.FieldOwner(fluxManager), client.ForceOwnership)
	}
}

func deleted(s *spoke, live *unstructured.Unstructured) error { return s.api.Delete(s.Context(), live) }

func TestLossesPolicy(t *testing.T) {
	s := startSpoke(t)
	for _, c := range lossCases() {
		t.Run(c.name, func(t *testing.T) {
			at := s.at(t)
			live := at.create(managed, "1", "2", "3")
			at.approve(c.approved)
			at.assertRefused(c.request(at, live), c.want)
		})
	}
	for _, c := range formerCases() {
		t.Run("a ConfigMap with the former key: "+c.name, func(t *testing.T) {
			at := s.at(t)
			live := at.create(managed, "1", "2", "3")
			at.approveFormerly(c.approved)
			at.assertRefused(c.request(at, live), c.want)
		})
	}
	for name, version := range map[string]string{"a text that no line has": withoutLine, "a text that is too long for a line": strings.Repeat("1", approval.MaxLength)} {
		t.Run(name, func(t *testing.T) {
			at := s.at(t)
			live := at.create(managed, "1", version)
			at.approve("argocd/1\nargocd/" + version)
			at.assertRefused(applied(managed, "3")(at, live), refusedVersion+"*"+toTheConfigMap)
			at.approve("argocd/*#2")
			at.assertRefused(applied(managed, "3")(at, live), "")
		})
	}
	t.Run("what is nobody's is not refused", func(t *testing.T) {
		at := s.at(t)
		at.approve("")
		at.assertRefused(deleted(at, at.create(map[string]string{managedByLabel: "Helm"}, "1")), "")
	})
	t.Run("what Flux takes over keeps its versions", func(t *testing.T) {
		at := s.at(t)
		live := at.create(nil, "1", "2")
		at.approve("")
		at.assertRefused(applied(managed, "2")(at, live), refusedVersion+"1"+toTheConfigMap)
	})
	t.Run("a definition of another platform", func(t *testing.T) { s.at(t).otherPlatform() })
	t.Run("a thousand versions", func(t *testing.T) { s.at(t).manyVersions() })
	t.Run("without the ConfigMap nothing is updated or deleted", func(t *testing.T) { s.at(t).withoutApprovals() })
}

func startSpoke(t *testing.T) *spoke {
	t.Helper()
	system := controlPlane(t)
	kkp, err := os.ReadFile("../examples/catalog/applications/argocd/application.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s := &spoke{t, system.Client(), parse(t, kkp)}
	for _, manifest := range [][]byte{fmt.Appendf(nil, platformCRD, otherPlatforms[0]), []byte(helmReleaseCRD), []byte("apiVersion: v1\nkind: Namespace\nmetadata: {name: flux-system}\n")} {
		if err := system.Apply(t.Context(), manifest); err != nil {
			t.Fatal(err)
		}
	}
	// It stays: an API server that gets a policy with parameters again does not find them.
	if err := system.ApplyKustomization(t.Context(), "config/policies/spoke"); err != nil {
		t.Fatal(err)
	}
	s.awaitPolicy()
	return s
}

// awaitPolicy waits until the API server refuses a deletion.
func (s *spoke) awaitPolicy() {
	s.Helper()
	probe := s.create(managed, "1")
	defer remove(s.T, s.api, probe.DeepCopy())
	if err := wait.PollUntilContextTimeout(s.Context(), 20*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		return apierrors.IsForbidden(s.api.Delete(ctx, probe, client.DryRunAll)), nil
	}); err != nil {
		s.Fatalf("waiting for the policy: %v", err)
	}
}

// at returns the same system for another test.
func (s *spoke) at(t *testing.T) *spoke { return &spoke{t, s.api, s.kkp} }

func setVersions(object *unstructured.Unstructured, versions ...string) {
	all, _, _ := unstructured.NestedSlice(object.Object, "spec", "versions")
	var next []any
	for _, version := range versions {
		one := (&unstructured.Unstructured{Object: all[0].(map[string]any)}).DeepCopy().Object
		one["version"] = version
		next = append(next, one)
	}
	if err := unstructured.SetNestedSlice(object.Object, next, "spec", "versions"); err != nil {
		panic(err)
	}
}

// create creates the definition, and deletes it after the test.
func (s *spoke) create(labels map[string]string, versions ...string) *unstructured.Unstructured {
	s.Helper()
	live := s.kkp.DeepCopy()
	live.SetLabels(labels)
	setVersions(live, versions...)
	s.mustCreate(live)
	return live
}

func (s *spoke) mustCreate(live *unstructured.Unstructured) {
	s.Helper()
	manifest := live.DeepCopy()
	if err := s.api.Apply(s.Context(), client.ApplyConfigurationFromUnstructured(manifest), client.FieldOwner(fluxManager)); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { remove(s.T, s.api, manifest) })
	manifest.DeepCopyInto(live)
}

// remove deletes an object as an admin does, whom the policy does not hinder.
func remove(t *testing.T, api client.Client, object *unstructured.Unstructured) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	err := api.Patch(ctx, object, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":null}}`)), client.FieldOwner("admin"))
	if err == nil {
		err = api.Delete(ctx, object)
	}
	if client.IgnoreNotFound(err) != nil {
		t.Error(err)
	}
}

// approve writes lines into the ConfigMap, and waits until the API server heeds it.
func (s *spoke) approve(lines string) {
	s.Helper()
	s.approveIn(map[string]any{"approve": lines})
}

// approveFormerly does so with a ConfigMap that has the former key alone.
func (s *spoke) approveFormerly(lines string) {
	s.Helper()
	s.approveIn(map[string]any{"approve": nil, "approved": lines + "\n"})
}

func (s *spoke) approveIn(data map[string]any) {
	s.Helper()
	ctx := s.Context()
	marker := "marker-" + fmt.Sprint(time.Now().UnixNano())
	former, _ := data["approved"].(string)
	data["approved"] = former + marker + "/*"
	content, err := json.Marshal(map[string]any{"data": data})
	if err != nil {
		s.Fatal(err)
	}
	approvals := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "winnow-approvals", Namespace: "flux-system"}}
	if err := s.api.Patch(ctx, approvals, client.RawPatch(types.MergePatchType, content)); err != nil {
		s.Fatal(err)
	}
	// The marker shows that the API server heeds the ConfigMap: a definition of that name may be deleted then.
	probe := s.kkp.DeepCopy()
	probe.SetName(marker)
	probe.SetLabels(managed)
	if err := s.api.Create(ctx, probe); err != nil {
		s.Fatal(err)
	}
	var last error
	if err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		last = s.api.Delete(ctx, probe)
		return last == nil, nil
	}); err != nil {
		s.Fatalf("waiting for the approvals: %v; %v", err, last)
	}
}

// assertRefused compares the error of a request with a part of the message, if it is to be refused.
func (s *spoke) assertRefused(err error, want string) {
	s.Helper()
	switch {
	case want == "" && err != nil:
		s.Errorf("refused: %v", err)
	case want != "" && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), want)):
		s.Errorf("got %v, want a refusal with %q", err, want)
	}
}

func (s *spoke) otherPlatform() {
	live := parse(s.T, fmt.Appendf(nil, platformDefinition, otherPlatforms[0]))
	live.SetLabels(managed)
	s.mustCreate(live)
	s.approve("")
	patch(s.T, s.api, live, `{"spec":{"application":{"kind":"Other"}}}`)
	for _, versions := range []string{`"1.0"`, `["1.0"]`, `[{"name":"1.0"}]`} { // none of these is a list of versions
		patch(s.T, s.api, live, `{"spec":{"versions":`+versions+`}}`)
		live.SetManagedFields(nil)
		s.assertRefused(s.api.Update(s.Context(), live, client.FieldOwner(fluxManager)), "")
	}
	s.assertRefused(deleted(s, live), refusedDeletion)
}

// manyVersions shows that what the expressions cost is within the budget of the API server.
func (s *spoke) manyVersions() {
	const many = 1000
	versions, others, lines := make([]string, many), make([]string, many), make([]string, many)
	for i := range many {
		versions[i], others[i] = fmt.Sprintf("1.%d.0", i), fmt.Sprintf("2.%d.0", i)
		lines[i] = "argocd/" + versions[i]
	}
	live := s.create(managed, versions...)
	s.approve("")
	s.assertRefused(applied(managed, append(versions[1:many:many], "3.0.0")...)(s, live), refusedVersion+"1.0.0"+toTheConfigMap)
	s.assertRefused(applied(managed, others...)(s, live), refusedVersions+strings.Join(lines[:10], ", ")[len("argocd/"):]+" and 990 more, or argocd/*,"+toTheConfigMap)
	s.assertRefused(applied(managed, versions...)(s, live), "")
	s.approve(strings.Join(lines[1:], "\n") + "\nargocd/other")
	s.assertRefused(applied(managed, others...)(s, live), refusedVersion+"1.0.0"+toTheConfigMap)
	s.approve(strings.Join(lines, "\n"))
	s.assertRefused(deleted(s, live), refusedDeletion)
	s.assertRefused(applied(managed, others...)(s, live), "")
}

// withoutApprovals: the API server refuses what it cannot decide with the reason Invalid, which no policy changes.
func (s *spoke) withoutApprovals() {
	live := s.create(managed, "1")
	s.approve("")
	approvals := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "winnow-approvals", Namespace: "flux-system"}}
	if err := s.api.Delete(s.Context(), approvals); err != nil {
		s.Fatal(err)
	}
	defer func() {
		if err := s.api.Create(context.WithoutCancel(s.Context()), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: approvals.Name, Namespace: approvals.Namespace}}); err != nil {
			s.Error(err)
		}
		s.approve("") // until the API server heeds it, the definition cannot be deleted
	}()
	requests := map[string]func(*spoke, *unstructured.Unstructured) error{"an update": applied(managed, "1", "2"), "a deletion": deleted}
	for name, request := range requests {
		var last error
		if err := wait.PollUntilContextTimeout(s.Context(), 20*time.Millisecond, 30*time.Second, true, func(context.Context) (bool, error) {
			last = request(s, live)
			return apierrors.IsInvalid(last) && strings.Contains(last.Error(), "no params found"), nil
		}); err != nil {
			s.Errorf("%s is not refused: %v", name, last)
		}
	}
	other := s.kkp.DeepCopy()
	other.SetName("new")
	other.SetLabels(managed)
	if err := s.api.Create(s.Context(), other, client.DryRunAll); err != nil {
		s.Error(err)
	}
}

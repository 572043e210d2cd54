// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
)

// orphaning returns a cluster in which the selection "kkp", with deletionPolicy Orphan, publishes argocd and nginx, and the
// Kustomization "apps" has applied them, with the annotation of the artifact.
func orphaning(t *testing.T, edit ...func(*kustomizev1.Kustomization)) *liveCluster {
	t.Helper()
	c := newCluster(t)
	c.catalog("argocd", "nginx")
	c.selection("kkp", compared, orphanedByPolicy)
	c.consumer("apps", "kkp", append([]func(*kustomizev1.Kustomization){pruning}, edit...)...)
	c.settle("kkp")
	c.flux("apps", "kkp", "argocd", "nginx")
	for _, name := range []string{"argocd", "nginx"} {
		c.annotate(name, pruneAnnotation, disabled)
	}
	c.settle("kkp")
	c.ready("kkp")
	c.events.take()
	c.wire.taken()
	return c
}

func orphanedByPolicy(cs *v1alpha1.CatalogSelection) {
	cs.Spec.DeletionPolicy = v1alpha1.DeletionPolicyOrphan
}

// strip takes the annotation from the live argocd, as an admission policy does when Flux applies it.
func (c *liveCluster) strip() {
	c.Helper()
	c.patch("argocd", `"annotations": {"`+pruneAnnotation+`": null}`)
}

// What Flux deletes is decided by the annotation of the live object, not by that of the artifact.
func TestAnOrphanIsMarkedBeforeItLeaves(t *testing.T) {
	for _, test := range []struct {
		name   string
		before func(c *liveCluster)
		writes []string // to definitions
		kept   string   // the annotation at the end
	}{
		{"the live object has the annotation", func(*liveCluster) {}, nil, disabled},
		{"the live object lacks it", (*liveCluster).strip, []string{"PATCH argocd"}, disabled},
		{"the annotation has another case", func(c *liveCluster) { c.annotate("argocd", pruneAnnotation, "Disabled") }, nil, "Disabled"},
		{"it is marked already", func(c *liveCluster) {
			c.strip()
			u := newDefinition(c.group, "argocd")
			u.SetAnnotations(map[string]string{pruneAnnotation: disabled})
			if err := apiServer.Apply(c.Context(), client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(marksOwner)); err != nil {
				c.Fatal(err)
			}
		}, nil, disabled},
		{"a user has excluded it from Flux", func(c *liveCluster) {
			c.strip()
			c.annotate("argocd", reconcileAnnotation, disabled)
		}, nil, ""},
		{"it is bypassed", func(c *liveCluster) {
			c.strip()
			c.bypass("argocd")
			c.settle("kkp")
			c.wire.taken()
		}, nil, ""},
		{"its bypass ends now", func(c *liveCluster) {
			c.strip()
			c.bypass("argocd")
			c.settle("kkp")
			c.wire.taken()
			c.unlabel("argocd", v1alpha1.BypassLabel)
		}, []string{"PATCH argocd", "PATCH argocd"}, disabled},
		{"it is gone", func(c *liveCluster) { c.remove(c.live("argocd")) }, nil, "gone"},
		{"Flux has not applied it", func(c *liveCluster) {
			c.remove(c.live("argocd"))
			c.create("argocd")
		}, nil, ""},
		{"no Kustomization prunes", func(c *liveCluster) {
			c.strip()
			ks := c.kustomization("apps")
			ks.Spec.Prune = false
			if err := apiServer.Update(c.Context(), ks); err != nil {
				c.Fatal(err)
			}
		}, nil, ""},
		{"deletionPolicy Delete by the same edit", func(c *liveCluster) {
			c.strip()
			c.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.DeletionPolicy = v1alpha1.DeletionPolicyDelete })
		}, nil, "gone"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := orphaning(t)
			test.before(c)
			c.edit(without("argocd"))
			c.settle("kkp")
			c.ready("kkp")
			c.equal("the writes", c.wire.taken(), test.writes)
			c.flux("apps", "kkp", "nginx")
			c.rounds("kkp")
			c.equal("the annotation", c.kept("argocd"), test.kept)
			c.equal("the kept", c.keptBy("kkp"), "")
			orphaned := 0
			if strings.EqualFold(test.kept, disabled) || slices.Contains([]string{"a user has excluded it from Flux", "it is bypassed"}, test.name) {
				orphaned = 1
			}
			c.equal("summary.orphaned", int(c.get("kkp").Status.Summary.Orphaned), orphaned)
			c.unchanged()
		})
	}
}

// refusal is a reason for which the live argocd gets no annotation.
type refusal struct {
	name  string
	cause func(c *liveCluster)
	// because is the end of the message.
	because string
	remedy  func(c *liveCluster)
}

func refusals() []refusal {
	byHand := func(c *liveCluster) { c.annotate("argocd", pruneAnnotation, disabled) }
	return []refusal{
		{
			"a mutating admission policy removes it", func(c *liveCluster) { c.admission(mutating) },
			"Winnow has set it, and it did not stay: let the mutating admission policy or webhook that removes it spare this object",
			(*liveCluster).admitAgain,
		},
		{
			"an admission policy denies it as invalid", func(c *liveCluster) { c.admission(validating("Invalid")) },
			"it may not be marked: the API server refuses the annotation: applicationdefinitions.platform.winnow.example \"argocd\" is forbidden: " +
				"ValidatingAdmissionPolicy 'keep' with binding 'keep' denied request: no annotations here; " +
				"let Winnow set it, or set it by hand", (*liveCluster).admitAgain,
		},
		{
			"an admission policy forbids it", func(c *liveCluster) { c.admission(validating("Forbidden")) },
			"it may not be marked: the API server refuses the annotation: applicationdefinitions.platform.winnow.example \"argocd\" is forbidden: " +
				"ValidatingAdmissionPolicy 'keep' with binding 'keep' denied request: no annotations here; " +
				"let Winnow set it, or set it by hand", (*liveCluster).admitAgain,
		},
		{
			"a webhook denies it as a bad request", func(c *liveCluster) { c.wire.answer = badRequest },
			"it may not be marked: the API server refuses the annotation: admission webhook denied the request; " +
				"let Winnow set it, or set it by hand", byHand,
		},
		{
			"the right is missing", (*liveCluster).markWithout,
			"it may not be marked: the API server refuses the annotation: applicationdefinitions.platform.winnow.example \"argocd\" is forbidden: " +
				"User \"ACCOUNT\" cannot patch resource \"applicationdefinitions\" in API group \"platform.winnow.example\" at the cluster scope; " +
				"let Winnow set it, or set it by hand; marks.enabled of the chart, or kubectl apply -k config/marks, grants it", byHand,
		},
		{
			"another client has set another value", func(c *liveCluster) { c.annotate("argocd", pruneAnnotation, "enabled") },
			"it may not be marked: the API server refuses the annotation: Apply failed with 1 conflict: conflict with \"user\" using " +
				"platform.winnow.example/v1: .metadata.annotations.kustomize.toolkit.fluxcd.io/prune; " +
				"let Winnow set it, or set it by hand", byHand,
		},
	}
}

func TestAnOrphanThatCannotBeKeptIsHeld(t *testing.T) {
	for _, test := range refusals() {
		t.Run(test.name, func(t *testing.T) {
			c := orphaning(t)
			t.Cleanup(c.admitAgain)
			c.strip()
			test.cause(c)
			c.edit(without("argocd"))
			served := consumers.RevisionOf(c.get("kkp"))
			for range 3 { // no time and no repetition releases it
				c.awaitCaches()
				result, err := c.tryReconcile("kkp")
				if err != nil || result.RequeueAfter <= 0 || result.RequeueAfter > conflictRetry*11/10 {
					t.Fatalf("Reconcile() = %v, %v", result, err)
				}
				cs := c.get("kkp")
				c.equal("conditions", conditionsOf(cs), []string{"Held=True PruneNotDisabled", "Ready=True Succeeded"})
				c.equal("held", reasonsOf(cs), []string{strings.ReplaceAll(fmt.Sprintf("PruneNotDisabled argocd : the Kustomization %s/apps would delete its live object, "+
					"because that lacks the annotation %s: %s, which deletionPolicy Orphan needs: %s", c.namespace, pruneAnnotation, disabled, test.because),
					"ACCOUNT", c.account("controller"))})
				c.equal("the lines that release it", cs.Status.Held.Approve, []string(nil))
				c.equal("the revision that is served", []string{consumers.RevisionOf(cs), c.announced("kkp").Status.Artifact.Revision}, []string{served, served})
				c.pass(30 * time.Minute)
			}
			c.equal("the events about the hold", slices.DeleteFunc(c.events.take(), func(line string) bool {
				return !strings.Contains(line, "PruneNotDisabled")
			}), []string{"Warning PruneNotDisabled CatalogSelection", "Warning PruneNotDisabled ExternalArtifact"})
			test.remedy(c)
			c.settle("kkp")
			c.ready("kkp")
			c.flux("apps", "kkp", "nginx")
			c.equal("the annotation", c.kept("argocd"), disabled)
		})
	}
}

// A line that names the removal counts for as long as the removal is held, also if no line is what it waits for.
func TestTheLineOfAnOrphanThatIsHeldStillCounts(t *testing.T) {
	c := orphaning(t)
	t.Cleanup(c.admitAgain)
	c.strip()
	c.admission(mutating)
	c.edit(approving("argocd"))
	c.catalog("nginx")
	c.settle("kkp")
	cs := c.get("kkp")
	c.equal("conditions", conditionsOf(cs), []string{"Held=True PruneNotDisabled", "Ready=True Succeeded"})
	c.equal("named", cs.Status.Held.Named, []string{"argocd"})
	c.pass(72 * time.Hour)
	c.admitAgain()
	c.settle("kkp")
	c.ready("kkp")
	c.equal("used", used(c.get("kkp")), []string{"argocd"})
}

// Winnow has no right to change what installs software, so the user has to.
func TestAReleaseThatIsOrphanedNeedsTheAnnotation(t *testing.T) {
	c := newCluster(t)
	c.tenants()
	c.selection("kkp", compared, orphanedByPolicy, installing("a=1.0.0 b=1.0.0"))
	c.consumer("kkp", "kkp", pruning)
	c.settle("kkp")
	c.applyRelease("kkp", c.namespace, "web", "b", "b")
	c.applyRelease("kkp", c.namespace, "web", "a", "b", "a")
	c.ready("kkp")
	c.change("kkp", func(cs *v1alpha1.CatalogSelection) { delete(cs.Spec.Instances, "a") })
	c.settle("kkp")
	cs := c.get("kkp")
	c.equal("conditions", conditionsOf(cs)[:2], []string{"Held=True PruneNotDisabled", "Ready=True Succeeded"})
	c.equal("held", reasonsOf(cs), []string{fmt.Sprintf("PruneNotDisabled HelmRelease %[1]s/a : the Kustomization %[1]s/kkp would delete its live object, because that lacks "+
		"the annotation %s: %s, which deletionPolicy Orphan needs: Winnow only reads this kind: set the annotation by hand; or set spec.suspend: true, with which "+
		"helm-controller uninstalls nothing, and delete the HelmRelease by hand", c.namespace, pruneAnnotation, disabled)})
	release := liveRelease(c.namespace, "a", nil)
	c.exists(release)
	release.SetAnnotations(map[string]string{pruneAnnotation: disabled})
	if err := apiServer.Update(t.Context(), release); err != nil {
		t.Fatal(err)
	}
	c.settle("kkp")
	c.equal("conditions", conditionsOf(c.get("kkp"))[:1], []string{"Ready=True Succeeded"})
}

// mutating is an admission policy that removes the annotation.
const mutating = `apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: keep}
spec:
  failurePolicy: Fail
  reinvocationPolicy: Never
  matchConstraints:
    resourceRules: [{apiGroups: [platform.winnow.example], apiVersions: ["*"], operations: [CREATE, UPDATE], resources: [applicationdefinitions]}]
  matchConditions:
  - {name: annotated, expression: "object.metadata.?annotations[?'` + pruneAnnotation + `'].hasValue()"}
  mutations:
  - patchType: JSONPatch
    jsonPatch:
      expression: "[JSONPatch{op: 'remove', path: '/metadata/annotations/' + jsonpatch.escapeKey('` + pruneAnnotation + `')}]"
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: keep}
spec: {policyName: keep}
`

// validating returns an admission policy that denies the annotation with a reason.
func validating(reason string) string {
	return `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: keep}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules: [{apiGroups: [platform.winnow.example], apiVersions: ["*"], operations: [CREATE, UPDATE], resources: [applicationdefinitions]}]
  validations:
  - {expression: "!object.metadata.?annotations[?'` + pruneAnnotation + `'].hasValue()", message: no annotations here, reason: ` + reason + `}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: keep}
spec: {policyName: keep, validationActions: [Deny]}
`
}

// admission creates an admission policy with its binding for the rest of the test, and waits until the API server obeys it.
func (c *liveCluster) admission(manifests string) {
	c.Helper()
	for manifest := range strings.SplitSeq(manifests, "---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(manifest), object); err != nil {
			c.Fatal(err)
		}
		if err := apiServer.Create(c.Context(), object); err != nil {
			c.Fatal(err)
		}
		c.policies = append(c.policies, object)
	}
	c.awaitAdmission(true)
}

// admitAgain deletes the admission policies of the test.
func (c *liveCluster) admitAgain() {
	c.Helper()
	if len(c.policies) == 0 {
		return
	}
	for _, object := range c.policies {
		if err := apiServer.Delete(context.Background(), object); err != nil {
			c.Error(err)
		}
	}
	c.policies = nil
	c.awaitAdmission(false)
}

// awaitAdmission waits until the API server obeys the policies about the annotation, or no longer.
func (c *liveCluster) awaitAdmission(obeyed bool) {
	c.Helper()
	c.await(fmt.Sprintf("the admission to be %t", obeyed), func() bool {
		probe := newDefinition(c.group, "probe")
		probe.SetAnnotations(map[string]string{pruneAnnotation: disabled})
		err := apiServer.Create(context.Background(), probe, client.DryRunAll)
		return (err != nil || probe.GetAnnotations()[pruneAnnotation] == "") == obeyed
	})
}

// badRequest answers as an API server does whose webhook denies a request with the code 400.
func badRequest(r *http.Request) *http.Response {
	body := `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"admission webhook denied the request","reason":"BadRequest","code":400}`
	return &http.Response{
		StatusCode: http.StatusBadRequest, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewBufferString(body)), Request: r,
	}
}

// SPDX-License-Identifier: Apache-2.0

package consumers

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

func readyCondition(status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{
		Type: meta.ReadyCondition, Status: status, Reason: reason, Message: message,
		LastTransitionTime: metav1.NewTime(time.Unix(1_700_000_000, 0)),
	}
}

// appliedCondition returns "<status> <reason>: <message>" of Applied.
func appliedCondition(condition *metav1.Condition) string {
	if condition == nil {
		return ""
	}
	return fmt.Sprintf("%s %s: %s", condition.Status, condition.Reason, condition.Message)
}

func remotely(ks *kustomizev1.Kustomization) {
	ks.Spec.KubeConfig = &meta.KubeConfigReference{SecretRef: &meta.SecretKeyReference{Name: "kubeconfig"}}
}

const (
	older1     = "latest@sha256:1111111111111111"
	published2 = "latest@sha256:2222222222222222"
	gateClosed = "can't access 'ExternalArtifact/apps/kkp', ExternalArtifact feature gate is disabled"
	blocked    = "can't access 'ExternalArtifact/apps/kkp', cross-namespace references have been blocked"
)

// kustomized returns a Kustomization that applied one revision, attempted another one last, and has the
// condition Ready; no condition if status is empty.
func kustomized(applied, attempted string, status metav1.ConditionStatus, reason, message string) *kustomizev1.Kustomization {
	ks := &kustomizev1.Kustomization{}
	ks.Namespace, ks.Name = "flux-system", "apps"
	ks.Status.LastAppliedRevision, ks.Status.LastAttemptedRevision = applied, attempted
	if status != "" {
		ks.Status.Conditions = []metav1.Condition{readyCondition(status, reason, message)}
	}
	return ks
}

func suspended(ks *kustomizev1.Kustomization) *kustomizev1.Kustomization {
	ks.Spec.Suspend = true
	return ks
}

type consumerCase struct {
	name            string
	ks              *kustomizev1.Kustomization
	reason, message string
}

func consumerCases() []consumerCase {
	const yes, no, unknown = metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown
	const progressing, noPath = "has not applied the revision yet", "kustomization path not found: stat /tmp/x: no such file or directory"
	return []consumerCase{
		{"it has applied the revision", kustomized(published2, published2, yes, "ReconciliationSucceeded", "Applied"), "", ""},
		{"it applies the revision once more", kustomized(published2, published2, unknown, "Progressing", "Reconciliation in progress"), "", ""},
		{"it has applied the revision and is suspended", suspended(kustomized(published2, published2, yes, "ReconciliationSucceeded", "Applied")), "", ""},
		{"it has applied an older revision", kustomized(older1, older1, yes, "ReconciliationSucceeded", "Applied"), "Progressing", progressing},
		{"it is new", kustomized("", "", "", "", ""), "Progressing", progressing},
		{"it applies its first revision", kustomized("", "", unknown, "Progressing", "Fetching"), "Progressing", progressing},
		{"it applies the revision", kustomized(older1, published2, unknown, "Progressing", "Fetching"), "Progressing", progressing},
		{"it failed at the revision", kustomized(older1, published2, no, "ReconciliationFailed", "no such kind"), "ApplyFailed", "no such kind"},
		{"it failed at the revision that it had applied", kustomized(published2, published2, no, "HealthCheckFailed", "timeout"), "ApplyFailed", "timeout"},
		{"it failed at an older revision", kustomized(older1, older1, no, "ReconciliationFailed", "no such kind"), "Progressing", progressing},
		{"it failed at the revision without the path", kustomized("", "", no, "ArtifactFailed", noPath), "ApplyFailed", noPath},
		{"it failed at the revision without the path of an edit", kustomized(older1, older1, no, "ArtifactFailed", noPath), "ApplyFailed", noPath},
		{"it cannot fetch the revision after another one", kustomized(older1, older1, no, "ArtifactFailed", "artifact digest changed, retrying"), "Progressing",
			progressing + ": artifact digest changed, retrying"},
		{"it waits for another one", kustomized(older1, older1, no, "DependencyNotReady", "dependency 'apps/a' is not ready"), "Progressing",
			progressing + ": dependency 'apps/a' is not ready"},
		{"it failed before it attempted any", kustomized("", "", no, "ArtifactFailed", "404"), "ApplyFailed", "404"},
		{"it lost its source at the revision", kustomized(older1, published2, no, "ArtifactFailed", "404"), "ApplyFailed", "404"},
		{"it is suspended at an older revision", suspended(kustomized(older1, older1, yes, "ReconciliationSucceeded", "Applied")), "Suspended", "is suspended"},
		{"it was suspended after it failed", suspended(kustomized(older1, published2, no, "ReconciliationFailed", "no such kind")), "Suspended", "is suspended"},
		{"the feature gate is off", kustomized("", "", no, "AccessDenied", gateClosed), "FeatureGateDisabled",
			gateClosed + "; start kustomize-controller with --feature-gates=ExternalArtifact=true"},
		{"the feature gate was turned off later", kustomized(older1, older1, no, "AccessDenied", gateClosed), "FeatureGateDisabled",
			gateClosed + "; start kustomize-controller with --feature-gates=ExternalArtifact=true"},
		{"the feature gate was turned off after the revision", kustomized(published2, published2, no, "AccessDenied", gateClosed), "FeatureGateDisabled",
			gateClosed + "; start kustomize-controller with --feature-gates=ExternalArtifact=true"},
		{"references across namespaces are blocked", kustomized("", "", no, "AccessDenied", blocked), "ApplyFailed", blocked},
		{"another failure that mentions a feature gate", kustomized("", "", no, "ReconciliationFailed", "a feature gate is disabled"),
			"ApplyFailed", "a feature gate is disabled"},
		{"a long message is cut", kustomized("", "", no, "ReconciliationFailed", strings.Repeat("é", 400)), "ApplyFailed", strings.Repeat("é", 254) + "..."},
	}
}

func TestTheStateOfAConsumer(t *testing.T) {
	for _, test := range consumerCases() {
		for _, remote := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, remote %t", test.name, remote), func(t *testing.T) {
				ks := test.ks.DeepCopy()
				if remote {
					remotely(ks)
				}
				got := consumerOf(ks, published2)
				failed := strings.HasPrefix(test.name, "it failed at the revision")
				want := Consumer{Reason: test.reason, Failed: failed, Suspended: ks.Spec.Suspend, attempted: ks.Status.LastAttemptedRevision, ConsumerStatus: v1alpha1.ConsumerStatus{
					Namespace: "flux-system", Name: "apps", Remote: remote, Revision: ks.Status.LastAppliedRevision, Message: test.message,
				}}
				if !reflect.DeepEqual(got, want) {
					t.Errorf("consumerOf() = %+v, want %+v", got, want)
				}
			})
		}
	}
}

// An archive whose digest does not match is neither an event nor a final failure.
func TestAppliedSaysThatARevisionIsNotFetched(t *testing.T) {
	const no, unknown = metav1.ConditionFalse, metav1.ConditionUnknown
	const retrying = "artifact digest changed, retrying"
	for _, test := range []struct {
		name     string
		ks       *kustomizev1.Kustomization
		age      time.Duration
		reminded bool
	}{
		{"the first revision", kustomized("", "", no, "ArtifactFailed", retrying), 6 * time.Minute, true},
		{"another revision", kustomized(older1, older1, no, "ArtifactFailed", retrying), 6 * time.Minute, true},
		{"another revision, while it is tried again", kustomized(older1, older1, unknown, "Progressing", "Fetching"), 6 * time.Minute, true},
		{"the revision once more", kustomized(published2, published2, no, "ArtifactFailed", retrying), 6 * time.Minute, true},
		{"within the time", kustomized(older1, older1, no, "ArtifactFailed", retrying), 4 * time.Minute, false},
		{"it is being applied", kustomized(older1, published2, unknown, "Progressing", "Fetching"), time.Hour, false},
		{"it was fetched and failed", kustomized(older1, published2, no, "HealthCheckFailed", "timeout"), time.Hour, false},
		{"a path that it lacks", kustomized(older1, older1, no, "ArtifactFailed", "kustomization path not found: x"), time.Hour, false},
		{"a suspended one", suspended(kustomized(older1, older1, no, "ArtifactFailed", retrying)), time.Hour, false},
		{"it is applied", kustomized(published2, published2, metav1.ConditionTrue, "ReconciliationSucceeded", "Applied"), time.Hour, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			all := Consumers{Known: true, Items: []Consumer{consumerOf(test.ks, published2)}}
			applied := all.Applied(published2, nil, nil)
			before := applied.Message
			all.Remind(applied, published2, test.age)
			added := strings.TrimPrefix(applied.Message, before)
			if strings.Contains(added, "has not fetched the revision") != test.reminded || strings.Contains(added, "digest") != test.reminded {
				t.Errorf("Remind() adds %q to %q", added, before)
			}
		})
	}
	Consumers{Known: true}.Remind(nil, published2, time.Hour)
}

// A Kustomization that has reported nothing has not applied what is not published.
func TestNothingIsAppliedWithoutARevision(t *testing.T) {
	if c := consumerOf(&kustomizev1.Kustomization{}, ""); c.Reason == "" {
		t.Errorf("%+v has applied it", c)
	}
}

// consumersWith returns consumers with these reasons; the prefix "remote " makes one remote.
func consumersWith(reasons ...string) Consumers {
	c := Consumers{Known: true}
	for i, reason := range reasons {
		reason, remote := strings.CutPrefix(reason, "remote ")
		item := Consumer{Reason: reason}
		item.Namespace, item.Name, item.Remote, item.Message = "apps", fmt.Sprintf("ks-%d", i), remote, "message of "+reason
		if reason == "done" {
			item.Reason, item.Message = "", ""
		}
		c.Items = append(c.Items, item)
	}
	return c
}

func TestApplied(t *testing.T) {
	for _, test := range []struct {
		name      string
		consumers Consumers
		want      string
	}{
		{"Kustomizations cannot be seen", Consumers{}, ""},
		{"none uses the artifact", consumersWith(), "Unknown NoConsumer: no Kustomization in this cluster uses the ExternalArtifact"},
		{"all have applied it", consumersWith("done", "remote done"), "True Succeeded: applied by 2 of 2 Kustomizations, revision sha256:222222222222"},
		{"one is in progress", consumersWith("done", "Progressing"), "False Progressing: Kustomization apps/ks-1: message of Progressing"},
		{"a remote one counts as well", consumersWith("done", "remote Progressing"), "False Progressing: Kustomization apps/ks-1: message of Progressing"},
		{"suspension is worse than progress", consumersWith("Progressing", "Suspended"), "False Suspended: Kustomization apps/ks-1: message of Suspended; and 1 more"},
		{"failure is worse than suspension", consumersWith("Suspended", "ApplyFailed", "Progressing"), "False ApplyFailed: Kustomization apps/ks-1: message of ApplyFailed; and 2 more"},
		{"the feature gate is worst", consumersWith("ApplyFailed", "FeatureGateDisabled", "ApplyFailed"), "False FeatureGateDisabled: Kustomization apps/ks-1: message of FeatureGateDisabled; and 2 more"},
		{"of equal reasons the first one is reported", consumersWith("done", "ApplyFailed", "ApplyFailed"), "False ApplyFailed: Kustomization apps/ks-1: message of ApplyFailed; and 1 more"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := appliedCondition(test.consumers.Applied(published2, nil, nil)); got != test.want {
				t.Errorf("Applied() = %q, want %q", got, test.want)
			}
			if got := test.consumers.Applied("", nil, nil); got != nil {
				t.Errorf("Applied is %v though nothing is published", got)
			}
		})
	}
}

func TestWhereConsumersAct(t *testing.T) {
	type acts struct{ may, here, applied bool }
	from := func(namespace string, reasons ...string) Consumers { // the last one is of that namespace
		c := consumersWith(reasons...)
		c.Namespace = "apps"
		c.Items[len(c.Items)-1].Namespace = namespace
		return c
	}
	for _, test := range []struct {
		name      string
		consumers Consumers
		want      acts
	}{
		{"unknown ones", Consumers{}, acts{may: true}},
		{"none", consumersWith(), acts{}},
		{"a local one", consumersWith("done"), acts{may: true, here: true, applied: true}},
		{"a local one in progress", consumersWith("Progressing"), acts{may: true, here: true}},
		{"a remote one", consumersWith("remote done"), acts{}},
		{"both", consumersWith("remote Progressing", "done"), acts{may: true, here: true, applied: true}},
		{"both, the local one in progress", consumersWith("remote done", "Progressing"), acts{may: true, here: true}},
		{"two local ones, one suspended", consumersWith("done", "Suspended"), acts{may: true, here: true}},
		{"one of another namespace", from("elsewhere", "done"), acts{may: true, here: true, applied: true}},
		{"one of another namespace beside a remote one", from("elsewhere", "remote done", "done"), acts{may: true}},
		{"one of another namespace in progress", from("elsewhere", "done", "Progressing"), acts{may: true, here: true, applied: true}},
	} {
		c := test.consumers
		if got := (acts{c.MayActHere(), c.ActHere(), c.AppliedHere()}); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}

func TestTheConsumersInTheStatusAreBounded(t *testing.T) {
	var reasons []string
	for range 3 * maxConsumers {
		reasons = append(reasons, "ApplyFailed")
	}
	c := consumersWith(reasons...)
	if got := c.Statuses(); len(got) != maxConsumers || got[0].Name != "ks-0" {
		t.Errorf("%d consumers are listed", len(got))
	}
	if got := c.Applied(published2, nil, nil).Message; !strings.HasSuffix(got, fmt.Sprintf("; and %d more", 3*maxConsumers-1)) {
		t.Errorf("the message is %q", got)
	}
}

func TestAKustomizationConcernsTheSelectionOfItsArtifact(t *testing.T) {
	kkp := &kustomizev1.Kustomization{}
	kkp.Namespace = "apps"
	kkp.Spec.SourceRef = kustomizev1.CrossNamespaceSourceReference{Kind: sourcev1.ExternalArtifactKind, Name: "kkp"}
	edited := func(edit func(*kustomizev1.Kustomization)) client.Object {
		ks := kkp.DeepCopy()
		edit(ks)
		return ks
	}
	git := edited(func(ks *kustomizev1.Kustomization) {
		ks.Generation, ks.Spec.SourceRef.Kind = 2, sourcev1.GitRepositoryKind
	})
	elsewhere := edited(func(ks *kustomizev1.Kustomization) { ks.Generation, ks.Spec.SourceRef.Namespace = 2, "infra" })
	for _, test := range []struct {
		name         string
		older, newer client.Object
		want         []string
	}{
		{"a new one", nil, kkp, []string{"apps/kkp"}},
		{"one that is gone", kkp, nil, []string{"apps/kkp"}},
		{"a new one of another source", nil, git, nil},
		{"one that changes its source", kkp, git, []string{"apps/kkp"}},
		{"one that takes it", git, kkp, []string{"apps/kkp"}},
		{"one that takes another artifact", kkp, elsewhere, []string{"apps/kkp", "infra/kkp"}},
		{"a changed spec", kkp, edited(func(ks *kustomizev1.Kustomization) { ks.Generation++ }), []string{"apps/kkp"}},
		{"an applied revision", kkp, edited(func(ks *kustomizev1.Kustomization) { ks.Status.LastAppliedRevision = older1 }), []string{"apps/kkp"}},
		{"an attempted revision", kkp, edited(func(ks *kustomizev1.Kustomization) { ks.Status.LastAttemptedRevision = older1 }), []string{"apps/kkp"}},
		{"a condition", kkp, edited(func(ks *kustomizev1.Kustomization) {
			ks.Status.Conditions = []metav1.Condition{readyCondition(metav1.ConditionFalse, "Failed", "")}
		}), []string{"apps/kkp"}},
		{"a handled request", kkp, edited(func(ks *kustomizev1.Kustomization) { ks.Status.LastHandledReconcileAt = "now" }), nil},
		{"a longer history", kkp, edited(func(ks *kustomizev1.Kustomization) { ks.Status.History = meta.History{{Digest: "sha256:1"}} }), nil},
		{"a resync", kkp, kkp, nil},
	} {
		none := &Kustomizations{}
		var got []string
		for _, key := range none.concerned(t.Context(), test.older, test.newer) {
			got = append(got, key.String())
		}
		if strings.Join(got, " ") != strings.Join(test.want, " ") {
			t.Errorf("%s concerns %v, want %v", test.name, got, test.want)
		}
	}
}

// What was attempted may be applied in part.
func TestAppliedOnlyKnowsWhatWasAttempted(t *testing.T) {
	for _, test := range []struct {
		applied, attempted string
		want               bool
	}{
		{"", "", true}, {"one", "one", true}, {"", "one", true}, {"one", "two", false}, {"two", "one", false}, {"", "two", false},
	} {
		ks := &kustomizev1.Kustomization{}
		ks.Status.LastAppliedRevision, ks.Status.LastAttemptedRevision = test.applied, test.attempted
		c := Consumers{Items: []Consumer{consumerOf(ks, "one")}}
		if got := c.AppliedOnly([]string{"one"}); got != test.want {
			t.Errorf("applied %q, attempted %q: AppliedOnly() = %v", test.applied, test.attempted, got)
		}
	}
}

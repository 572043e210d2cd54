// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"archive/tar"
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/test/canary"
)

// trouble is an obstacle to the publication of a selection.
type trouble struct {
	name string
	// cause creates it for the selection "kkp" of the OCIRepository "catalog".
	cause func(e *environment)
	// want has the conditions.
	want  []string
	retry retry
	// message has parts of the message.
	message []string
}

func stalled(reason string) []string {
	return []string{"Ready=False " + reason, "Stalled=True " + reason}
}

func retried(reason string) []string {
	return []string{"Ready=False " + reason, "Reconciling=True ProgressingWithRetry"}
}

// serve replaces the handler of an artifact with the content "x".
func serve(handler http.HandlerFunc) func(e *environment) {
	return func(e *environment) {
		artifact := e.source([]byte("x"))
		e.sources.Handle("/"+artifact.Path, handler)
	}
}

func sourceTroubles() []trouble {
	return []trouble{
		{
			name: "a source that does not exist is checked at the interval",
			cause: func(e *environment) {
				e.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources[0].Name = "none" })
			},
			want: retried("SourceNotReady"), retry: atInterval, message: []string{"OCIRepository", "/none", "does not exist"},
		},
		{
			name: "a misspelt source is answered with the one that is meant",
			cause: func(e *environment) {
				e.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources[0].Name = "catalg" })
			},
			want: retried("SourceNotReady"), retry: atInterval, message: []string{"/catalg does not exist: did you mean catalog?"},
		},
		{
			name:  "a source without an artifact is checked at the interval",
			cause: func(e *environment) { e.setArtifact("OCIRepository", e.key("catalog"), nil) },
			want:  retried("SourceNotReady"), retry: atInterval, message: []string{"OCIRepository", "/catalog", "no artifact"},
		},
		{
			name: "a source in another namespace is refused while that is forbidden",
			cause: func(e *environment) {
				e.reconciler.sources.NoCrossNamespaceRefs = true
				e.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources[0].Namespace = "default" })
			},
			want: stalled("AccessDenied"), retry: never, message: []string{"default/catalog", "--no-cross-namespace-refs"},
		},
		{
			name:  "a missing artifact is retried",
			cause: serve(http.NotFound),
			want:  retried("FetchFailed"), retry: backoff, message: []string{"/catalog"},
		},
		{
			name:  "a failing server is retried",
			cause: serve(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }),
			want:  retried("FetchFailed"), retry: backoff, message: []string{"/catalog", "giving up"},
		},
		{
			name:  "an artifact with another digest is retried",
			cause: serve(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("y")) }),
			want:  retried("FetchFailed"), retry: backoff, message: []string{"/catalog", digestOf([]byte("x"))},
		},
		{
			name: "an artifact that is too large by its size in the source is not fetched",
			cause: func(e *environment) {
				artifact := e.source([]byte("x"))
				size := archive.DefaultLimits().Compressed + 1
				artifact.Size = &size
				e.setArtifact("OCIRepository", e.key("catalog"), artifact)
			},
			want: stalled("InvalidArchive"), retry: never, message: []string{"/catalog", "67108865 bytes"},
		},
		{
			name: "an artifact that is too large is cut off",
			cause: serve(func(w http.ResponseWriter, _ *http.Request) {
				for range 65 {
					_, _ = w.Write(make([]byte, 1<<20))
				}
			}),
			want: retried("FetchFailed"), retry: backoff, message: []string{"greater than the max download size"},
		},
	}
}

func contentTroubles(t *testing.T) []trouble {
	link := hostileArchive(t, &tar.Header{Name: "applications/x/application.yaml", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"})
	climbing := hostileArchive(t, &tar.Header{Name: "../applications/x/application.yaml", Typeflag: tar.TypeReg})
	invalid := catalogArchive(t,
		"applications/a/application.yaml", definition("A_", "1.0.0,1.0.0"),
		"applications/b/application.yaml", "kind: ConfigMap\n",
		"applications/c/metadata.yaml", "tier: 1\n",
	)
	return []trouble{
		{
			name:  "an archive without gzip is refused",
			cause: func(e *environment) { e.source([]byte("hello")) },
			want:  stalled("InvalidArchive"), message: []string{"/catalog"},
		},
		{
			name:  "a symbolic link is refused by name",
			cause: func(e *environment) { e.source(link) },
			want:  stalled("InvalidArchive"), message: []string{"applications/x/application.yaml", "symbolic link"},
		},
		{
			name:  "a climbing path is refused by name",
			cause: func(e *environment) { e.source(climbing) },
			want:  stalled("InvalidArchive"), message: []string{"../applications/x/application.yaml"},
		},
		{
			name:  "all violations of a catalog are named",
			cause: func(e *environment) { e.source(invalid) },
			want:  stalled("InvalidCatalog"),
			message: []string{
				"applications/a/application.yaml", "A_", "1.0.0", "applications/b/application.yaml", "ConfigMap", "metadata is missing",
				"applications/c/application.yaml", "applications/c/metadata.yaml",
			},
		},
		{
			name: "a directory that the artifact does not have is named",
			cause: func(e *environment) {
				e.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources[0].Path = "deploy/none" })
			},
			want: stalled("InvalidCatalog"), message: []string{"deploy/none"},
		},
		{
			name: "a label that Kubernetes would refuse is refused",
			cause: func(e *environment) {
				e.edit(func(cs *v1alpha1.CatalogSelection) {
					cs.Spec.CommonMetadata = &v1alpha1.CommonMetadata{Labels: map[string]string{"team": "not a value!"}}
				})
			},
			want: stalled("InvalidSpec"), message: []string{"spec.commonMetadata.labels", "not a value!"},
		},
	}
}

func TestTroubleBeforeAndAfterAPublication(t *testing.T) {
	for _, trouble := range slices.Concat(sourceTroubles(), verificationTroubles(), contentTroubles(t)) {
		t.Run(trouble.name+", at first", func(t *testing.T) { troubleAtFirst(t, trouble) })
		t.Run(trouble.name+", after a publication", func(t *testing.T) { troubleLater(t, trouble) })
	}
}

func troubleAtFirst(t *testing.T, trouble trouble) {
	e := newEnvironment(t)
	e.source(applications(t, "argocd"))
	e.selection("kkp")
	trouble.cause(e)
	e.suffer(trouble, trouble.want)
	if e.announced("kkp") != nil || e.get("kkp").Status.Artifact != nil || len(e.archiveFiles()) > 0 {
		t.Error("something was published")
	}
	e.recover()
}

func troubleLater(t *testing.T, trouble trouble) {
	e := newEnvironment(t)
	e.source(applications(t, "argocd"))
	e.selection("kkp")
	good, announced := e.publish("kkp")
	served := e.download(announced)
	trouble.cause(e)
	cs := e.suffer(trouble, trouble.want)
	e.equal("the ExternalArtifact", e.announced("kkp"), announced)
	if !bytes.Equal(e.download(announced), served) {
		t.Error("the last good artifact is not served any more")
	}
	e.equal("artifact", cs.Status.Artifact, good.Status.Artifact)
	e.equal("sources", cs.Status.Sources, good.Status.Sources)
	e.equal("applications", cs.Status.Applications, good.Status.Applications)
	e.recover()
}

// suffer reconciles twice, and expects the outcome each time and events only for the first time.
func (e *environment) suffer(trouble trouble, want []string) *v1alpha1.CatalogSelection {
	e.Helper()
	e.events.take()
	e.checkRetry(trouble.retry)
	first, events := e.get("kkp"), e.events.take()
	e.equal("conditions", conditionsOf(first), want)
	if text := fmt.Sprintf("%+v, %v", first.Status, events); canary.In(text) != "" {
		e.Errorf("the status or an event shows a secret: %s", text)
	}
	held := conditions.IsTrue(first, v1alpha1.HeldCondition)
	vanished := first.Status.Artifact != nil && conditions.IsFalse(first, v1alpha1.SourceReadyCondition)
	if quiet := trouble.retry == atInterval && !held && !vanished; quiet != (len(events) == 0) {
		e.Errorf("events are %v", events)
	}
	if first.Status.ObservedGeneration != first.Generation {
		e.Errorf("observed generation %d, not %d", first.Status.ObservedGeneration, first.Generation)
	}
	message := conditions.GetMessage(first, meta.ReadyCondition)
	if held {
		message = conditions.GetMessage(first, v1alpha1.HeldCondition)
	}
	for _, part := range trouble.message {
		if !strings.Contains(message, part) {
			e.Errorf("the message %q does not name %q", message, part)
		}
	}
	e.checkRetry(trouble.retry)
	e.equal("the selection after a repetition", e.get("kkp"), first)
	e.equal("events of a repetition", e.events.take(), []string(nil))
	return first
}

func (e *environment) checkRetry(want retry) {
	e.Helper()
	result, err := e.tryReconcile("kkp")
	delay := map[retry]time.Duration{atInterval: 10 * time.Minute}[want]
	if (err != nil) != (want == backoff) || result.RequeueAfter != delay {
		e.Errorf("Reconcile() = %v, %v", result, err)
	}
}

// recover removes the cause of any trouble.
func (e *environment) recover() {
	e.Helper()
	e.reconciler.sources.NoCrossNamespaceRefs = false
	e.edit(func(cs *v1alpha1.CatalogSelection) {
		cs.Spec = v1alpha1.CatalogSelectionSpec{Sources: []v1alpha1.SourceReference{byContent()}}
		cs.Spec.Cluster.Serve = v1alpha1.ServeAlways
	})
	e.source(applications(e.T, "argocd falco"))
	e.events.take()
	cs, _ := e.publish("kkp")
	e.equal("summary", cs.Status.Summary, v1alpha1.Summary{Available: 2, Selected: 2})
	e.equal("events", e.events.take(), []string{"Normal Succeeded CatalogSelection", "Normal Succeeded ExternalArtifact"})
}

func TestReadyBeginsWithWhatIsNotServed(t *testing.T) {
	c := newCluster(t)
	c.catalog("argocd", "nginx", "falco")
	c.selection("kkp", compared, without("falco"))
	c.look()
	message := conditions.GetMessage(c.reconcile("kkp"), meta.ReadyCondition)
	if !strings.HasPrefix(message, "nothing is served until a Kustomization uses the ExternalArtifact; rendered 2 of 3 applications, revision sha256:") {
		t.Errorf("without a consumer the message is %q", message)
	}
	pushed := c.get("kkp")
	pushed.Spec.Push = &v1alpha1.Push{}
	if message := readyMessage(pushed); !strings.HasPrefix(message, "rendered for spec.push 2 of 3 applications, revision sha256:") {
		t.Errorf("with a push the message is %q", message)
	}
	c.consumer("apps", "kkp", pruning)
	c.look()
	cs, _ := c.publish("kkp")
	if message := conditions.GetMessage(cs, meta.ReadyCondition); !strings.HasPrefix(message, "published 2 of 3 applications, revision sha256:") {
		t.Errorf("with a consumer the message is %q", message)
	}
}

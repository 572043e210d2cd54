package controllers

import (
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// A bypassed definition moves, and its bypass ends before the giver's Kustomization has applied the new
// artifact. The mark of the move stays, so that Flux does not delete it.
func TestABypassThatEndsWhileItMovesDeletesNothing(t *testing.T) {
	c := moving(t)
	c.bypass("argocd")
	c.rounds("alpha", "beta")
	c.change("alpha", without("argocd", "nginx"))
	c.change("beta", without("falco"))
	c.rounds("alpha", "beta")
	c.ready("alpha", "beta")
	c.unlabel("argocd", v1alpha1.BypassLabel)
	c.rounds("alpha", "beta")
	c.flux("alpha", "alpha", "falco")
	if c.live("argocd") == nil {
		t.Error("argocd is deleted, and beta installs it anew")
	}
}

// The giver has published without an application, and its Kustomization has not applied that yet. Another
// selection that takes the application then marks it.
func TestWhatWasGivenUpBeforeItWasWanted(t *testing.T) {
	c := moving(t)
	c.change("alpha", without("argocd", "nginx"))
	c.rounds("alpha", "beta")
	c.ready("alpha")
	c.change("beta", without("falco"))
	c.rounds("beta", "alpha")
	c.ready("beta")
	c.flux("alpha", "alpha", "falco") // resumed, or its dependencies are ready at last
	if c.live("argocd") == nil {
		t.Error("argocd is deleted, and beta installs it anew")
	}
}

// What leaves is marked while it is not known what a receiver is going to render.
func TestAReceiverWhoseRenderIsNotKnown(t *testing.T) {
	for _, test := range []struct {
		name string
		beta func(*v1alpha1.CatalogSelection)
	}{
		{"because it is suspended while it is edited", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Suspend = true }},
		{"because the same edit has a mistake", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources[0].Path = "no/such/path" }},
		{"because its source comes with the same commit", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources[0].Name = "later" }},
		{"because it has a push and no Kustomization yet", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := moving(t)
			if test.beta != nil {
				c.change("beta", without("falco"))
				c.change("beta", test.beta)
			} else {
				c.selection("gamma", compared, without("nginx", "falco"), func(cs *v1alpha1.CatalogSelection) {
					cs.Spec.Push = &v1alpha1.Push{URL: "oci://127.0.0.1:1/x", Tags: []string{"v1"}}
				})
				_, _ = c.tryReconcile("gamma")
			}
			c.change("alpha", without("argocd", "nginx"))
			for range 3 {
				_, _ = c.tryReconcile("beta")
				_, _ = c.tryReconcile("gamma")
				_, _ = c.tryReconcile("alpha")
				c.awaitCaches()
			}
			c.ready("alpha")
			c.flux("alpha", "alpha", "falco")
			if c.live("argocd") == nil {
				t.Error("argocd is deleted, and the receiver installs it anew")
			}
		})
	}
}

// An empty result is held, and says all the same that nothing is wanted.
func TestWhoSelectsNothingReceivesNothing(t *testing.T) {
	c := moving(t)
	c.change("beta", without("argocd", "nginx", "falco"))
	c.change("alpha", without("argocd", "nginx"))
	c.rounds("beta", "alpha", "beta", "alpha")
	c.ready("alpha")
	if held := c.get("beta").Status.Held; held == nil {
		t.Fatal("beta is not held, though it selects nothing")
	}
	c.flux("alpha", "alpha", "falco")
	if c.live("argocd") != nil {
		t.Error("argocd is kept for beta, which does not select it")
	}
}

// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"slices"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// publishing returns a cluster where the selection "kkp" publishes argocd and nginx, and a Kustomization has
// applied them.
func publishing(t *testing.T) *liveCluster {
	t.Helper()
	c := newCluster(t)
	c.catalog("argocd", "nginx")
	c.selection("kkp")
	c.consumer("apps", "kkp")
	c.publish("kkp")
	c.apply("kkp", "argocd", "nginx")
	c.applies("apps")
	c.look()
	c.events.take()
	return c
}

type bypassCase struct {
	name string
	// steps are the changes by users before the last reconciliation.
	steps func(c *liveCluster)
	// of is the definition, argocd if empty.
	of     string
	want   []string
	events []string
}

func TestABypassIsMarked(t *testing.T) {
	for _, test := range slices.Concat(bypassCases(), ignoredCases(), strangerCases()) {
		t.Run(test.name, func(t *testing.T) { runBypassCase(t, test) })
	}
}

func bypassCases() []bypassCase {
	return []bypassCase{
		{
			name:  "a bypassed definition is marked",
			steps: func(c *liveCluster) { c.bypass("argocd") },
			want:  appliedAnd("disabled by winnow-marks"),
		},
		{
			name:  "any value of the label counts",
			steps: func(c *liveCluster) { c.label("argocd", v1alpha1.BypassLabel, "") },
			want:  appliedAnd("disabled by winnow-marks"),
		},
		{
			name:  "another definition is not marked",
			steps: func(c *liveCluster) { c.bypass("argocd") },
			of:    "nginx", want: appliedAnd(),
		},
		{
			name: "the mark is removed after the label",
			steps: func(c *liveCluster) {
				c.bypass("argocd")
				c.look()
				c.unlabel("argocd", v1alpha1.BypassLabel)
			},
			want: appliedAnd(),
		},
		{
			name: "the mark is removed after the label, also after a restart",
			steps: func(c *liveCluster) {
				c.bypass("argocd")
				c.look()
				c.restart()
				c.unlabel("argocd", v1alpha1.BypassLabel)
			},
			want: appliedAnd(),
		},
		{
			name: "a mark that a user removed is set again",
			steps: func(c *liveCluster) {
				c.bypass("argocd")
				c.look()
				c.patch("argocd", `"annotations": {"`+reconcileAnnotation+`": null}`)
			},
			want: appliedAnd("disabled by winnow-marks"),
		},
	}
}

func ignoredCases() []bypassCase {
	return []bypassCase{
		{
			name:  "bypass: Ignore sets nothing",
			steps: func(c *liveCluster) { c.edit(ignoreBypass); c.bypass("argocd") },
			want:  appliedAnd(),
		},
		{
			name: "bypass: Ignore removes the mark",
			steps: func(c *liveCluster) {
				c.bypass("argocd")
				c.look()
				c.edit(ignoreBypass)
			},
			want: appliedAnd(),
		},
		{
			name: "bypass: Ignore takes the mark off what the selection holds and no Kustomization has applied",
			steps: func(c *liveCluster) {
				c.remove(c.live("argocd"))
				c.create("argocd")
				c.bypass("argocd")
				c.look()
				c.edit(ignoreBypass)
			},
		},
	}
}

// strangerCases have definitions that the selection does not hold, or has not applied.
func strangerCases() []bypassCase {
	return []bypassCase{
		{
			name:  "a definition that the selection neither holds nor has applied is not marked",
			steps: func(c *liveCluster) { c.create("falco"); c.bypass("falco") },
			of:    "falco",
		},
		{
			name:  "one that another selection of the same name has applied is not marked",
			steps: func(c *liveCluster) { c.neighbor().apply("kkp", "falco"); c.bypass("falco") },
			of:    "falco", want: []string{"label winnow", "label NAMESPACE-neighbor", "label kkp"},
		},
		{
			name: "one that the selection holds is marked, also if another client has applied it",
			steps: func(c *liveCluster) {
				c.remove(c.live("argocd"))
				c.create("argocd")
				c.bypass("argocd")
			},
			want: []string{"disabled by winnow-marks"},
		},
	}
}

func ignoreBypass(cs *v1alpha1.CatalogSelection) { cs.Spec.Cluster.Bypass = v1alpha1.BypassIgnore }

func runBypassCase(t *testing.T, test bypassCase) {
	c := publishing(t)
	test.steps(c)
	c.awaitCaches()
	_, _ = c.tryReconcile("kkp")
	c.awaitCaches()
	name := test.of
	if name == "" {
		name = "argocd"
	}
	c.equal("marks of "+name, c.marks(name), test.want)
	c.unchanged()
	c.equal("marks of "+name+" after a repetition", c.marks(name), test.want)
	c.equal("events", c.events.take(), test.events)
}

func TestMarksOfOtherManagersStay(t *testing.T) {
	own := func(value string) func(c *liveCluster) {
		return func(c *liveCluster) { c.annotate("argocd", reconcileAnnotation, value) }
	}
	bypass := func(c *liveCluster) { c.bypass("argocd") }
	unlabel := func(c *liveCluster) { c.unlabel("argocd", v1alpha1.BypassLabel) }
	look := func(c *liveCluster) { c.look() }
	admitted := func(c *liveCluster) {
		c.bypass("argocd")
		c.annotate("argocd", reconcileAnnotation, disabled)
		c.annotate("argocd", v1alpha1.BypassMarkAnnotation, "admission")
	}
	forbidden := []string{"Warning MarksForbidden CatalogSelection"}
	for _, test := range []struct {
		name   string
		steps  []func(c *liveCluster)
		want   []string
		events []string
	}{
		{"disabled without a bypass stays", []func(*liveCluster){own("disabled")}, []string{"disabled by user"}, nil},
		{"disabled before the bypass stays unchanged", []func(*liveCluster){own("disabled"), bypass}, []string{"disabled by user"}, nil},
		{"and stays after the label is removed", []func(*liveCluster){own("disabled"), bypass, look, unlabel}, []string{"disabled by user"}, nil},
		{"and in the other spellings of Flux", []func(*liveCluster){own("Disabled"), bypass}, []string{"Disabled by user"}, nil},
		{"disabled after the bypass is shared", []func(*liveCluster){bypass, look, shareMark}, []string{"disabled by user and winnow-marks"}, nil},
		{"and stays after the label is removed, without our ownership", []func(*liveCluster){bypass, look, shareMark, unlabel}, []string{"disabled by user"}, nil},
		{"a mark that another manager took over stays", []func(*liveCluster){bypass, look, own("no"), own("disabled"), unlabel}, []string{"disabled by user"}, nil},
		{"enabled is not forced", []func(*liveCluster){own("enabled"), bypass}, []string{"enabled by user"}, forbidden},
		{"and reported once", []func(*liveCluster){own("enabled"), bypass, look, unlabel, look, bypass}, []string{"enabled by user"}, forbidden},
		{"the mark of the admission policy stays with the label", []func(*liveCluster){admitted}, []string{"disabled by user", "set by admission"}, nil},
		{"and is removed after it", []func(*liveCluster){admitted, look, unlabel}, nil, nil},
		{"also before a reconciliation", []func(*liveCluster){admitted, unlabel}, nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			steps := func(c *liveCluster) {
				for _, step := range test.steps {
					step(c)
				}
			}
			runBypassCase(t, bypassCase{steps: steps, want: appliedAnd(test.want...), events: test.events})
		})
	}
}

// shareMark sets the same mark with another field manager.
func shareMark(c *liveCluster) {
	u := newDefinition(c.group, "argocd")
	u.SetAnnotations(map[string]string{reconcileAnnotation: disabled})
	if err := apiServer.Apply(c.Context(), client.ApplyConfigurationFromUnstructured(u), client.FieldOwner("user")); err != nil {
		c.Fatal(err)
	}
}

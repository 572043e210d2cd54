// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"strings"
	"testing"
	"time"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// reads adds the artifacts of selections to the sources.
func reads(names ...string) func(*v1alpha1.CatalogSelection) {
	return func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Sources = cs.Spec.Sources[:1]
		for _, name := range names {
			cs.Spec.Sources = append(cs.Spec.Sources, v1alpha1.SourceReference{
				Kind: "ExternalArtifact", Name: name, Format: v1alpha1.FormatDefinitions, Include: []string{"applicationdefinitions/*.yaml"},
			})
		}
	}
}

// Selections that read each other's artifacts would publish without end.
func TestALoopOfSourcesIsACondition(t *testing.T) {
	for _, test := range []struct {
		name string
		// sources maps selections to the selections that they read.
		sources map[string][]string
		// loops are the selections in a loop; the others are published.
		loops []string
	}{
		{"two that read each other", map[string][]string{"a": {"b"}, "b": {"a"}}, []string{"a", "b"}},
		{"three in a ring, and one that reads them", map[string][]string{"a": {"b"}, "b": {"c"}, "c": {"a"}}, []string{"a", "b", "c"}},
		{"two ways to one artifact are no loop", map[string][]string{"a": {"b", "c"}, "b": {"c"}, "c": nil}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := newEnvironment(t)
			e.source(applications(t, "argocd"))
			for name := range test.sources {
				e.selection(name)
				e.publish(name)
			}
			for name, of := range test.sources {
				cs := e.get(name)
				reads(of...)(cs)
				if err := apiServer.Update(t.Context(), cs); err != nil {
					t.Fatal(err)
				}
			}
			for name := range test.sources {
				result, err := e.tryReconcile(name)
				if err != nil {
					t.Fatal(err)
				}
				cs := e.get(name)
				if !strings.Contains(strings.Join(test.loops, " "), name) {
					e.equal("conditions of "+name, conditionsOf(cs), []string{"Ready=True Succeeded"})
					continue
				}
				e.equal("conditions of "+name, conditionsOf(cs), stalled("SourceLoop"))
				e.equal("the artifact of "+name, e.announced(name).Status.Artifact, cs.Status.Artifact)
				if result.RequeueAfter <= 0 || result.RequeueAfter > 2*time.Minute {
					t.Errorf("%s is checked again after %s, though another selection may end the loop", name, result.RequeueAfter)
				}
			}
			if len(test.loops) == 0 {
				return
			}
			cs := e.get("b")
			reads()(cs)
			if err := apiServer.Update(t.Context(), cs); err != nil {
				t.Fatal(err)
			}
			e.publish("b")
			e.publish("a")
		})
	}
}

// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/record"
)

// cozystack packs a catalog of Cozystack with the definition vm: "prefix,kind,plural,chart".
func cozystack(t *testing.T, word string) []byte {
	t.Helper()
	part := strings.Split(word, ",")
	return catalogArchive(t, "applications/vm/application.yaml", fmt.Sprintf("apiVersion: cozystack.io/v1alpha1\n"+
		"kind: ApplicationDefinition\nmetadata:\n  name: vm\nspec:\n  application: {kind: %s, plural: %s, singular: vm}\n"+
		"  release:\n    prefix: %s\n    chartRef: {kind: ExternalArtifact, name: %s, namespace: cozy-system}\n", part[1], part[2], part[0], part[3]))
}

// charts packs a catalog of "name:version@chart,version@chart" words.
func charts(t *testing.T, words string) []byte {
	t.Helper()
	var files []string
	for word := range strings.FieldsSeq(words) {
		name, versions, _ := strings.Cut(word, ":")
		document := "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata:\n  name: " + name + "\nspec:\n  versions:\n"
		for v := range strings.SplitSeq(versions, ",") {
			version, chart, _ := strings.Cut(v, "@")
			document += fmt.Sprintf("  - version: %q\n    template:\n      source:\n        helm: {url: 'https://charts.example', chartName: %s, chartVersion: %q}\n",
				version, chart, version)
		}
		files = append(files, "applications/"+name+"/application.yaml", document)
	}
	return catalogArchive(t, files...)
}

func publishArchive(t *testing.T, archive []byte, edit ...specEdit) (*environment, lastGood) {
	t.Helper()
	e := newEnvironment(t)
	e.source(archive)
	e.selection("kkp", append([]specEdit{guarded}, edit...)...)
	return e, e.good()
}

func TestAVersionFromAnotherChartIsReported(t *testing.T) {
	holds := func(cs *v1alpha1.CatalogSelection) { cs.Spec.Safeguards.OnSourceChange = v1alpha1.SafeguardHold }
	const before, after = "argocd:1.0.0@argo,2.0.0@argo nginx:1.0.0@nginx", "argocd:1.0.0@argo,2.0.0@fork nginx:1.0.0@nginx"
	const message = "versions would come from another chart, repository or commit: 2.0.0"

	t.Run("and published, as the default is", func(t *testing.T) {
		e, good := publishArchive(t, charts(t, before))
		e.equal("source changes of the first publication", good.cs.Status.Summary.SourceChanges, int32(0))
		e.source(charts(t, after))
		cs, _ := e.publish("kkp")
		e.equal("source changes", cs.Status.Summary.SourceChanges, int32(1))
		e.equal("events", e.events.take(), []string{
			"Normal Succeeded CatalogSelection", "Normal Succeeded ExternalArtifact",
			"Normal SourceChange CatalogSelection", "Normal SourceChange ExternalArtifact",
		})
		e.equal("message", e.events.message, "published: argocd: "+message)
		e.equal("source changes of a repetition", e.reconcile("kkp").Status.Summary.SourceChanges, int32(1))
		e.restart()
		e.equal("source changes after a restart", e.reconcile("kkp").Status.Summary.SourceChanges, int32(1))
		e.equal("events of a repetition", e.events.take(), []string(nil))
		e.source(charts(t, after+" falco:1.0.0@falco"))
		e.equal("source changes of the next publication", e.good().cs.Status.Summary.SourceChanges, int32(0))
	})
	t.Run("and held, as configured", func(t *testing.T) {
		e, good := publishArchive(t, charts(t, before), holds)
		e.source(charts(t, after))
		e.equal("held", e.hold(good, "SourceChange").Status.Held.Reasons, []v1alpha1.HeldReason{{
			Reason: "SourceChange", Application: "argocd", Versions: []string{"2.0.0"}, Message: message, Approve: []string{"argocd/2.0.0:source"},
		}})
		e.approveHeld()
		e.good()
	})
	t.Run("and held, where a mirror in the spec is the cause", func(t *testing.T) {
		e, _ := publishArchive(t, charts(t, before), holds)
		e.edit(func(cs *v1alpha1.CatalogSelection) {
			cs.Spec.Mirrors = []v1alpha1.Mirror{{From: "charts.example", To: "mirror.example"}}
		})
		e.equal("lost", lost(e.reconcile("kkp")), []string{"SourceChange argocd 1.0.0 2.0.0", "SourceChange nginx 1.0.0"})
		e.approveHeld()
		e.equal("source changes", e.good().cs.Status.Summary.SourceChanges, int32(2))
	})
	t.Run("and held, behind a mirror that is a registry", func(t *testing.T) {
		e, _ := publishArchive(t, charts(t, before), holds)
		mirror := func(to string, helm *v1alpha1.MirrorHelm) {
			e.edit(func(cs *v1alpha1.CatalogSelection) {
				cs.Spec.Mirrors = []v1alpha1.Mirror{{From: "charts.example", To: to, Helm: helm}}
			})
			if e.reconcile("kkp").Status.Held != nil {
				e.approveHeld()
			}
		}
		mirror("oci://mirror.example/charts", nil)
		e.equal("source changes of a mirror", e.good().cs.Status.Summary.SourceChanges, int32(2))
		mirror("oci://mirror.example/charts", &v1alpha1.MirrorHelm{Insecure: true})
		e.equal("source changes of its server", e.good().cs.Status.Summary.SourceChanges, int32(0))
		mirror("https://mirror.example/charts", nil)
		good := e.good()
		e.equal("source changes of its scheme", good.cs.Status.Summary.SourceChanges, int32(2))
		e.source(charts(t, after))
		e.hold(good, "SourceChange")
	})
	t.Run("and held, of a definition without versions", func(t *testing.T) {
		e, good := publishArchive(t, cozystack(t, "vm-,VM,vms,vm"), holds)
		e.source(cozystack(t, "vm-,VM,vms,other"))
		e.equal("held", e.hold(good, "SourceChange").Status.Held.Reasons, []v1alpha1.HeldReason{{
			Reason: "SourceChange", Application: "vm", Message: "would come from another chart or module", Approve: []string{"vm:source"},
		}})
	})
}

// The record of a selection that does not hold changes of sources has no whole digests, with which a search finds no other chart.
func TestSourcesAreComparedByTheArtifactOnceTheyAreHeld(t *testing.T) {
	for name, want := range map[string][]string{"": {"SourceChange argocd 1.0.0"}, "and the archive is lost": {"BaselineLost "}} {
		t.Run(name, func(t *testing.T) {
			e, good := publishArchive(t, charts(t, "argocd:1.0.0@argo"))
			published, err := record.Read(good.cs)
			if err != nil {
				t.Fatal(err)
			}
			for i, d := range published.Definitions {
				e.equal("the length of a digest", len(d.Origins[0]), 4)
				published.Definitions[i].Origins = nil
			}
			published.URLs = nil // so that a lost archive is not rendered again
			packed, err := published.Pack()
			if err != nil {
				t.Fatal(err)
			}
			e.forge(packed.Packed)
			e.restart()
			e.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Safeguards.OnSourceChange = v1alpha1.SafeguardHold })
			if name != "" {
				e.damage()
			}
			e.source(charts(t, "argocd:1.0.0@other"))
			e.equal("lost", lost(e.reconcile("kkp")), want)
			e.approveHeld()
			published, err = record.Read(e.good().cs)
			if err != nil || len(published.Definitions[0].Origins[0]) != 8 {
				t.Errorf("the record has the digests %q: %v", published.Definitions[0].Origins, err)
			}
		})
	}
}

func TestOneKindOfTwoSourcesIsStalled(t *testing.T) {
	e, good := publishArchive(t, cozystack(t, "vm-,VM,vms,vm"))
	e.sourceOf("OCIRepository", e.key("other"), catalogArchive(t, "applications/machine/application.yaml",
		"apiVersion: cozystack.io/v1alpha1\nkind: ApplicationDefinition\nmetadata: {name: machine}\nspec: {application: {kind: VM}}\n"))
	e.edit(func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Sources = append(cs.Spec.Sources, v1alpha1.SourceReference{Name: "other", Format: v1alpha1.FormatApplications})
	})
	e.equal("conditions", conditionsOf(e.reconcile("kkp")), []string{"Ready=False InvalidSpec", "Stalled=True InvalidSpec"})
	e.untouched(good)
	e.edit(exclude("machine"))
	e.good()
}

package controllers

import (
	"testing"

	"github.com/fluxcd/pkg/apis/kustomize"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

type specEdit = func(*v1alpha1.CatalogSelection)

func exclude(names ...string) specEdit {
	return func(cs *v1alpha1.CatalogSelection) { cs.Spec.Exclude = names }
}

func constrain(constraint string, names ...string) specEdit {
	return func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Versions = []v1alpha1.VersionRule{{Names: names, Constraint: constraint}}
	}
}

func patchOf(name, patch string) specEdit {
	return func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Patches = []kustomize.Patch{{Patch: patch, Target: &kustomize.Selector{Name: name}}}
	}
}

// removeFirstVersion is a patch.
const removeFirstVersion = "- {op: remove, path: /spec/versions/0}\n"

func TestRemovalsByTheSpecArePublished(t *testing.T) {
	const words = "argocd:gold:1.0.0,2.0.0 nginx:silver falco:gold"
	for _, test := range []struct {
		name   string
		before specEdit
		edit   specEdit
	}{
		{"by exclude", guarded, exclude("nginx")},
		{"by names", guarded, func(cs *v1alpha1.CatalogSelection) { cs.Spec.Limit = &v1alpha1.Limit{NameSelector: []string{"argocd"}} }},
		{"by tiers", guarded, onlyGold},
		{"by an expression", guarded, func(cs *v1alpha1.CatalogSelection) { cs.Spec.Limit = &v1alpha1.Limit{Expression: `app.tier == "gold"`} }},
		{"by a constraint of versions", guarded, constrain(">=2", "argocd")},
		{"by the latest versions", guarded, func(cs *v1alpha1.CatalogSelection) { cs.Spec.Versions = []v1alpha1.VersionRule{{Latest: 1}} }},
		{"by a constraint that leaves no version", guarded, constrain(">=3", "argocd")},
		{"by a patch of versions", guarded, patchOf("argocd", removeFirstVersion)},
		{"by the end of a patch that added a version", func(cs *v1alpha1.CatalogSelection) {
			patchOf("argocd", `[{"op": "add", "path": "/spec/versions/-", "value": {"version": "9.0.0"}}]`)(cs)
		}, func(cs *v1alpha1.CatalogSelection) { cs.Spec.Patches = nil }},
		{"with the patch of an excluded application", patchOf("nginx", `[{"op": "add", "path": "/spec/description", "value": "x"}]`),
			func(cs *v1alpha1.CatalogSelection) { cs.Spec.Patches, cs.Spec.Exclude = nil, []string{"nginx"} }},
		{"by a major that the spec admits", func(cs *v1alpha1.CatalogSelection) { holdMajors(cs); constrain("<2")(cs) }, constrain(">0")},
	} {
		t.Run(test.name, func(t *testing.T) {
			e, good := publishGuarded(t, words, test.before)
			e.edit(test.edit)
			cs := e.good().cs
			if cs.Status.Held != nil || cs.Status.Artifact.Revision == good.cs.Status.Artifact.Revision {
				t.Errorf("held is %v, the artifact %v", cs.Status.Held, cs.Status.Artifact)
			}
		})
	}
}

// The edit and the catalog arrive together: only removals by the catalog are held.
func TestSpecAndCatalogAreToldApart(t *testing.T) {
	latest := func(n int32) specEdit {
		return func(cs *v1alpha1.CatalogSelection) { cs.Spec.Versions = []v1alpha1.VersionRule{{Latest: n}} }
	}
	for _, test := range []struct {
		name          string
		before, after string
		edit          specEdit
		want          []string
		byEdit        bool // the revision alone does not cause all of it
	}{
		{"each removes an application", "argocd nginx falco", "argocd nginx", exclude("nginx"), []string{"Removal falco 1.0.0"}, false},
		{"each removes a version of one application", "argocd::1.0.0,2.0.0,3.0.0", "argocd::1.0.0,3.0.0", constrain(">=2"), []string{"VersionRemoval argocd 2.0.0"}, false},
		{"each removes a version, and the spec by the latest", "argocd::1.0.0,2.0.0,3.0.0", "argocd::1.0.0,2.0.0", latest(1), []string{"VersionRemoval argocd 3.0.0"}, false},
		{"each removes a version of another application", "argocd::1.0.0,2.0.0 nginx::1.0.0,2.0.0", "argocd::1.0.0,2.0.0 nginx::2.0.0",
			constrain(">=2", "argocd"), []string{"VersionRemoval nginx 1.0.0"}, false},
		{"both remove the same application", "argocd nginx", "argocd", exclude("nginx"), nil, false},
		{"the catalog removes the version that the spec kept", "argocd nginx::1.0.0,2.0.0", "argocd nginx::1.0.0", constrain(">=2", "nginx"),
			[]string{"Removal nginx 1.0.0 2.0.0"}, true},
		{"the spec removes an application of which the catalog removes a version", "argocd nginx::1.0.0,2.0.0", "argocd nginx::2.0.0", exclude("nginx"), nil, false},
		// The effect of a patch on the last catalog is not known without that catalog.
		{"the spec patches a list that the catalog shortens", "argocd::1.0.0,2.0.0,3.0.0", "argocd::1.0.0,2.0.0", patchOf("argocd", removeFirstVersion),
			[]string{"VersionRemoval argocd 3.0.0", "VersionRemoval argocd 1.0.0"}, true},
		{"the spec selects by a field that the catalog changes", "argocd:gold nginx:gold", "argocd:gold nginx:silver", onlyGold, []string{"Removal nginx 1.0.0"}, true},
		{"an edit that removes nothing is no excuse", "argocd nginx", "argocd", exclude("velero"), []string{"Removal nginx 1.0.0"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			e, good := publishGuarded(t, test.before)
			e.edit(test.edit)
			source := e.source(applications(t, test.after))
			if test.want != nil {
				reason := test.want[0][:len("Removal")]
				if reason != "Removal" {
					reason = "VersionRemoval"
				}
				e.equal("lost", lost(e.hold(good, reason)), test.want)
				e.restart()
				cs := e.hold(good, reason)
				e.equal("lost after a restart", lost(cs), test.want)
				if test.byEdit {
					e.approve(source.Digest)
					e.hold(good, reason)
				} else {
					e.equal("approve", cs.Status.Held.Approve, []string{source.Digest})
				}
				e.approve(cs.Status.Held.Approve...)
			}
			e.good()
		})
	}
}

func TestEditsWhileAChangeIsHeld(t *testing.T) {
	const before, after = "argocd:gold nginx:gold falco:gold velero:gold", "argocd:gold nginx:silver velero:gold"
	held := []string{"Removal falco 1.0.0"}
	for _, test := range []struct {
		name string
		edit specEdit
		want []string
	}{
		{"excluding the removed applications releases them", exclude("falco", "nginx"), nil},
		{"narrowing removes another application", exclude("velero"), []string{"Removal falco 1.0.0", "Removal nginx 1.0.0"}},
		{"widening restores an application that only the tier removed", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Limit = nil }, held},
		{"publishing removals releases it", func(cs *v1alpha1.CatalogSelection) { cs.Spec.Safeguards.OnRemoval = "Publish" }, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			e, good := publishGuarded(t, before, onlyGold)
			source := e.source(applications(t, after))
			e.equal("lost at first", lost(e.hold(good, "Removal")), []string{"Removal falco 1.0.0", "Removal nginx 1.0.0"})
			e.edit(test.edit)
			if test.want != nil {
				e.equal("lost", lost(e.hold(good, "Removal")), test.want)
				e.approve(source.Digest)
			}
			e.good()
		})
	}
}

// An approval is an edit, and so are the changes with it, but they do not excuse the removal of an application.
func TestAnApprovalIsNoExcuse(t *testing.T) {
	wrong := digestOf([]byte("wrong"))
	for _, test := range []struct {
		name          string
		before, after string
		edit          specEdit
		want          []string
	}{
		{"for a removal", "argocd:gold nginx:gold", "argocd:gold", func(*v1alpha1.CatalogSelection) {}, []string{"Removal nginx 1.0.0"}},
		{"for a tier", "argocd:gold nginx:gold", "argocd:gold nginx:silver", func(*v1alpha1.CatalogSelection) {}, []string{"Removal nginx 1.0.0"}},
		{"for a version", "argocd:gold:1.0.0,2.0.0", "argocd:gold:2.0.0", func(*v1alpha1.CatalogSelection) {}, []string{"VersionRemoval argocd 1.0.0"}},
		{"together with another edit", "argocd:gold nginx:gold falco:gold", "argocd:gold nginx:silver falco:gold", exclude("falco"), []string{"Removal nginx 1.0.0"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			e, good := publishGuarded(t, test.before, onlyGold)
			e.source(applications(t, test.after))
			reason := e.reconcile("kkp").Status.Held.Reasons[0].Reason
			e.edit(func(cs *v1alpha1.CatalogSelection) {
				test.edit(cs)
				cs.Spec.Safeguards.Approve = []string{wrong, digestOf([]byte("and another"))}
			})
			e.equal("lost", lost(e.hold(good, reason)), test.want)
		})
	}
}

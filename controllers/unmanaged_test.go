// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
)

func labelling(cs *v1alpha1.CatalogSelection) { cs.Spec.Cluster.Unmanaged = v1alpha1.UnmanagedLabelled }

func unlabelling(cs *v1alpha1.CatalogSelection) {
	cs.Spec.Cluster.Unmanaged = v1alpha1.UnmanagedIgnore
}

func without(names ...string) func(*v1alpha1.CatalogSelection) {
	return func(cs *v1alpha1.CatalogSelection) { cs.Spec.Exclude = names }
}

// withOrphan returns a cluster where the selection "kkp", which labels unmanaged definitions, publishes argocd,
// a Kustomization has applied it, and falco has no owner.
func withOrphan(t *testing.T) *liveCluster {
	t.Helper()
	c := newCluster(t)
	c.catalog("argocd", "nginx")
	c.selection("kkp", labelling, without("nginx"))
	c.consumer("apps", "kkp")
	c.publish("kkp")
	c.create("falco")
	c.apply("kkp", "argocd")
	c.applies("apps")
	return c
}

func TestOrphansAreLabelled(t *testing.T) {
	const ours = "unmanaged true by winnow-marks"
	for _, test := range []struct {
		name  string
		steps []func(c *liveCluster)
		want  []string
	}{
		{"a definition without a holder", nil, []string{ours}},
		{"not before the Kustomization has applied the revision", []func(*liveCluster){func(c *liveCluster) { c.reports("apps", "latest@sha256:0") }}, nil},
		{"not while the Kustomization fails", []func(*liveCluster){func(c *liveCluster) { c.fails("apps") }}, nil},
		{"not while one of two has not applied it", []func(*liveCluster){func(c *liveCluster) { c.consumer("more", "kkp") }}, nil},
		{"with a remote one that has applied nothing", []func(*liveCluster){func(c *liveCluster) { c.consumer("more", "kkp", remotely) }}, []string{ours}},
		{"not without a consumer", []func(*liveCluster){func(c *liveCluster) { c.remove(c.kustomization("apps")) }}, nil},
		{"not with a remote one alone", []func(*liveCluster){func(c *liveCluster) {
			c.remove(c.kustomization("apps"))
			c.consumer("more", "kkp", remotely)
			c.applies("more")
		}}, nil},
		{"not without unmanaged: Labelled", []func(*liveCluster){func(c *liveCluster) { c.edit(unlabelling) }}, nil},
		{"not a bypassed one", []func(*liveCluster){func(c *liveCluster) { c.bypass("falco") }}, nil},
		{"not one of the platform", []func(*liveCluster){func(c *liveCluster) { c.label("falco", platformLabel, "kkp") }}, nil},
		{"not one of the platform's catalog manager", []func(*liveCluster){func(c *liveCluster) {
			c.label("falco", "applicationcatalog.k8c.io/managed-by", "application-catalog-manager")
		}}, nil},
		{"not one of the catalog manager of KKP 2.29", []func(*liveCluster){func(c *liveCluster) {
			c.annotate("falco", "apps.k8c.io/managed-by-external-manager", "true")
		}}, nil},
		{"one of a manager that is switched off", []func(*liveCluster){func(c *liveCluster) {
			c.annotate("falco", "apps.k8c.io/managed-by-external-manager", "false")
		}}, []string{ours}},
		{"a user's label stays unchanged", []func(*liveCluster){func(c *liveCluster) { c.label("falco", v1alpha1.UnmanagedLabel, "true") }},
			[]string{"unmanaged true by user"}},
		{"a user's label stays after the field is unset", []func(*liveCluster){
			func(c *liveCluster) { c.label("falco", v1alpha1.UnmanagedLabel, "true") }, (*liveCluster).again,
			func(c *liveCluster) { c.edit(unlabelling) },
		}, []string{"unmanaged true by user"}},
		{"another value by a user stays", []func(*liveCluster){func(c *liveCluster) { c.label("falco", v1alpha1.UnmanagedLabel, "no") }},
			[]string{"unmanaged no by user"}},
		{"removed when it is bypassed", []func(*liveCluster){(*liveCluster).again, func(c *liveCluster) { c.bypass("falco") }}, nil},
		{"removed when the platform takes it", []func(*liveCluster){(*liveCluster).again, func(c *liveCluster) { c.label("falco", platformLabel, "kkp") }}, nil},
		{"removed after the field is unset", []func(*liveCluster){(*liveCluster).again, func(c *liveCluster) { c.edit(unlabelling) }}, nil},
		{"removed after the field is unset, also after a restart", []func(*liveCluster){(*liveCluster).again, (*liveCluster).restart, func(c *liveCluster) { c.edit(unlabelling) }}, nil},
		{"removed when it joins", []func(*liveCluster){(*liveCluster).again, func(c *liveCluster) { c.catalog("argocd", "falco") }}, nil},
		{"not removed while the next revision is on its way", []func(*liveCluster){(*liveCluster).again, func(c *liveCluster) { c.edit(without()) }}, []string{ours}},
		{"not removed by suspension", []func(*liveCluster){(*liveCluster).again, func(c *liveCluster) {
			c.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Suspend = true })
		}}, []string{ours}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := withOrphan(t)
			for _, step := range test.steps {
				step(c)
			}
			c.again()
			c.equal("marks", c.marks("falco"), test.want)
			c.unchanged()
		})
	}
}

// The digest is that of a source that the definition is no longer of.
func TestAnOrphanKeepsNoDigestOfItsSource(t *testing.T) {
	c := publishing(t)
	c.edit(labelling)
	c.annotate("nginx", v1alpha1.SourceDigestAnnotation, "sha256:0")
	c.edit(without("nginx"))
	c.again()
	c.equal("digest before the Kustomization has applied the revision", c.live("nginx").GetAnnotations()[v1alpha1.SourceDigestAnnotation], "sha256:0")
	c.applies("apps")
	c.again()
	c.again()
	c.equal("marks", c.marks("nginx"), []string{"unmanaged true by winnow-marks"})
	if digest, stays := c.live("nginx").GetAnnotations()[v1alpha1.SourceDigestAnnotation]; stays {
		t.Errorf("it keeps the digest %s", digest)
	}
}

func TestWhatLeftTheSelectionLosesItsLabels(t *testing.T) {
	for _, test := range []struct {
		name  string
		steps []func(c *liveCluster)
		want  []string
	}{
		{"once the Kustomization has applied the revision", []func(*liveCluster){(*liveCluster).again, func(c *liveCluster) { c.applies("apps") }},
			[]string{"unmanaged true by winnow-marks"}},
		{"not before", []func(*liveCluster){(*liveCluster).again}, appliedAnd()},
		{"not while it is bypassed", []func(*liveCluster){
			func(c *liveCluster) { c.bypass("nginx") }, (*liveCluster).again,
			func(c *liveCluster) { c.applies("apps") },
		}, appliedAnd("disabled by winnow-marks")},
		{"once the bypass ends", []func(*liveCluster){
			func(c *liveCluster) { c.bypass("nginx") }, (*liveCluster).again,
			func(c *liveCluster) { c.applies("apps") }, (*liveCluster).again,
			func(c *liveCluster) { c.unlabel("nginx", v1alpha1.BypassLabel) },
		}, []string{"unmanaged true by winnow-marks"}},
		{"but not a label of another manager", []func(*liveCluster){
			func(c *liveCluster) { c.label("nginx", v1alpha1.ManagedByLabel, "helm") }, (*liveCluster).again,
			func(c *liveCluster) { c.applies("apps") },
		}, []string{"unmanaged true by winnow-marks", "label helm"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := publishing(t)
			c.edit(labelling)
			c.edit(without("nginx"))
			for _, step := range test.steps {
				step(c)
			}
			c.again()
			c.again()
			c.equal("marks", c.marks("nginx"), test.want)
			c.equal("marks of the selected definition", c.marks("argocd"), appliedAnd())
			c.unchanged()
		})
	}
}

func TestTheOrphansOfOthers(t *testing.T) {
	const ours = "unmanaged true by winnow-marks"
	for _, test := range []struct {
		name  string
		steps []func(c *liveCluster)
		want  []string
	}{
		{"a definition of another selection is none", []func(*liveCluster){another}, nil},
		{"a former definition of another selection is one", []func(*liveCluster){another, func(c *liveCluster) {
			cs := c.get("another")
			cs.Spec.Exclude = []string{"argocd", "falco"}
			c.update(cs)
			c.reconcile("another")
			c.reports("another", consumers.RevisionOf(c.get("another")))
			c.awaitCaches()
			c.reconcile("another")
		}}, []string{ours}},
		{"a definition that another selection has applied is none", []func(*liveCluster){another, func(c *liveCluster) {
			c.apply("another", "falco")
			cs := c.get("another")
			cs.Spec.Exclude = []string{"falco"}
			c.update(cs)
			c.reconcile("another")
		}}, []string{"label winnow", "label NAMESPACE", "label another"}},
		{"a definition of a deleted selection is one", []func(*liveCluster){another, func(c *liveCluster) {
			c.apply("another", "falco")
			c.remove(c.get("another"))
			c.reconciled("another")
		}}, []string{ours}},
		{"a definition of a selection that is being deleted is one", []func(*liveCluster){another, func(c *liveCluster) {
			c.apply("another", "falco")
			c.remove(c.get("another"))
		}}, []string{ours}},
		{"removed when another selection takes it", []func(*liveCluster){(*liveCluster).again, another}, nil},
		{"removed when another selection takes it, by that one", []func(*liveCluster){(*liveCluster).again, another, func(c *liveCluster) {
			c.awaitCaches()
			c.reconcile("another")
		}}, nil},
		{"not removed while another selection labels them", []func(*liveCluster){(*liveCluster).again, labellingGroup(platformGroup), func(c *liveCluster) { c.edit(unlabelling) }}, []string{ours}},
		{"removed while another one labels another kind", []func(*liveCluster){(*liveCluster).again, labellingGroup("else." + platformGroup), func(c *liveCluster) { c.edit(unlabelling) }}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := withOrphan(t)
			for _, step := range test.steps {
				step(c)
			}
			c.again()
			c.equal("marks", c.marks("falco"), test.want)
			c.unchanged()
		})
	}
}

// another publishes falco by another selection.
func another(c *liveCluster) {
	c.catalog("argocd", "nginx", "falco")
	c.edit(without("nginx", "falco"))
	c.selection("another", without("argocd"))
	c.consumer("another", "another")
	c.publish("another")
	c.again()
	c.applies("apps")
}

// labellingGroup creates a selection that labels the orphans of a group.
func labellingGroup(group string) func(c *liveCluster) {
	return func(c *liveCluster) {
		other := &liveCluster{environment: c.environment, group: group, wire: c.wire}
		other.install(group)
		other.catalog("tempo")
		other.selection("labelling", labelling)
		other.publish("labelling")
		c.catalog("argocd", "nginx")
		c.again()
		c.applies("apps")
	}
}

func (c *liveCluster) update(cs *v1alpha1.CatalogSelection) {
	c.Helper()
	if err := apiServer.Update(c.Context(), cs); err != nil {
		c.Fatal(err)
	}
}

// reconciled reconciles a selection that may not exist afterwards.
func (e *environment) reconciled(name string) {
	e.Helper()
	if _, err := e.tryReconcile(name); err != nil {
		e.Fatal(err)
	}
}

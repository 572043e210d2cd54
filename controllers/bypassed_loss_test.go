package controllers

import (
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// catalogWith serves a catalog of "name:version,version" words.
func (c *liveCluster) catalogWith(words string) {
	c.Helper()
	var files []string
	for word := range strings.FieldsSeq(words) {
		name, versions, _ := strings.Cut(word, ":")
		files = append(files, "applications/"+name+"/application.yaml", strings.Replace(definition(name, versions), "apps.kubermatic.k8c.io", c.group, 1))
	}
	c.source(catalogArchive(c.T, files...))
}

// Flux leaves a bypassed definition alone, so that a version that it loses holds nothing else back.
func TestALossThatCannotReachItsDefinition(t *testing.T) {
	const lossOfArgocd, lossOfNginx = "VersionRemoval argocd 1.0.0", "VersionRemoval nginx 1.0.0"
	for _, test := range []struct {
		name  string
		steps func(c *liveCluster)
		after string
		held  []string
	}{
		{"bypassed, and marked", func(c *liveCluster) { c.bypass("argocd"); c.look() }, "argocd:2.0.0 nginx:1.0.0,2.0.0", nil},
		{"bypassed just now", func(c *liveCluster) { c.bypass("argocd") }, "argocd:2.0.0 nginx:1.0.0,2.0.0", nil},
		{"not bypassed", func(*liveCluster) {}, "argocd:2.0.0 nginx:1.0.0,2.0.0", []string{lossOfArgocd}},
		{"beside a loss that reaches another one", func(c *liveCluster) { c.bypass("argocd") }, "argocd:2.0.0 nginx:2.0.0", []string{lossOfNginx}},
		{"bypassed, and gone from the catalog", func(c *liveCluster) { c.bypass("argocd") }, "nginx:1.0.0", []string{"Removal argocd 1.0.0 2.0.0"}},
		{"with a bypass that is ignored", func(c *liveCluster) { c.bypass("argocd"); c.edit(ignoreBypass) }, "argocd:2.0.0 nginx:1.0.0,2.0.0", []string{lossOfArgocd}},
		{"with another cluster, where it may reach one", func(c *liveCluster) { c.bypass("argocd"); c.consumer("there", "kkp", remotely) },
			"argocd:2.0.0 nginx:1.0.0,2.0.0", []string{lossOfArgocd}},
		{"where the definition cannot be marked", func(c *liveCluster) { c.bypass("argocd"); c.annotate("argocd", reconcileAnnotation, "enabled") },
			"argocd:2.0.0 nginx:1.0.0,2.0.0", []string{lossOfArgocd}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCluster(t)
			c.catalogWith("argocd:1.0.0,2.0.0 nginx:1.0.0")
			c.selection("kkp", guarded)
			c.consumer("apps", "kkp")
			good := c.good()
			c.apply("kkp", "argocd", "nginx")
			c.applies("apps")
			c.look()
			test.steps(c)
			c.awaitCaches()
			c.events.take()
			c.catalogWith(test.after)
			cs := c.reconcile("kkp")
			c.equal("held", lost(cs), test.held)
			if test.held != nil {
				c.untouched(good)
				return
			}
			c.equal("marks", c.marks("argocd"), appliedAnd("disabled by winnow-marks"))
			c.equal("events", c.events.take(), []string{
				"Normal Succeeded CatalogSelection", "Normal Succeeded ExternalArtifact",
				"Warning " + v1alpha1.VersionRemovalReason + " CatalogSelection", "Warning " + v1alpha1.VersionRemovalReason + " ExternalArtifact",
			})
			c.equal("message", c.events.message, "published, and kept by a bypass until that ends: argocd: versions would be removed: 1.0.0")
			c.reconcile("kkp")
			c.equal("events of a repetition", c.events.take(), []string(nil))
		})
	}
}

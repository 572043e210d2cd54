package controllers

import (
	"time"

	"github.com/fluxcd/pkg/apis/meta"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/bounds"
	"github.com/winnow-dev/winnow/render"
)

// recordPublication writes into the status what the ExternalArtifact now carries.
func recordPublication(cs *v1alpha1.CatalogSelection, artifact *meta.Artifact,
	result *render.Result, sources []v1alpha1.SourceStatus, took time.Duration) {
	last := cs.Status.Artifact
	if last == nil || last.Revision != artifact.Revision || last.Digest != artifact.Digest {
		cs.Status.History.Upsert(artifact.Digest, time.Now(), took.Round(time.Millisecond),
			v1alpha1.SucceededReason, map[string]string{"revision": artifact.Revision})
	}
	cs.Status.Artifact = artifact
	cs.Status.Sources, cs.Status.SourceRevision = sources, sourceRevision(sources[0])
	summary := summarize(result)
	if last := cs.Status.Summary; last != nil {
		summary.Bypassed, summary.Unmanaged = last.Bypassed, last.Unmanaged // until the cluster is looked at
		summary.SourceChanges = last.SourceChanges
	}
	cs.Status.Summary = summary
	cs.Status.Applications = listApplications(result.Selection)
	cs.Status.ApplicationsTruncated = len(cs.Status.Applications) < result.Selection.Selected
	cs.Status.Excluded = listExcluded(result.Selection)
}

func summarize(result *render.Result) *v1alpha1.Summary {
	s := result.Selection
	return &v1alpha1.Summary{
		Available:  bounds.Count(s.Available),
		Selected:   bounds.Count(s.Selected),
		Excluded:   bounds.Count(s.Excluded),
		Shadowed:   bounds.Count(s.Shadowed),
		Deprecated: bounds.Count(s.Deprecated),
		Unmirrored: bounds.Count(len(unmirroredHosts(result))),
	}
}

func unmirroredHosts(result *render.Result) map[string]bool {
	hosts := map[string]bool{}
	for _, a := range result.Addresses {
		for _, host := range a.Uncovered() {
			hosts[host.Host] = true
		}
	}
	return hosts
}

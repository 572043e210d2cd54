package controllers

import (
	"time"

	"github.com/fluxcd/pkg/apis/meta"

	"github.com/winnow-dev/winnow/api/v1alpha1"
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
		Available:  count(s.Available),
		Selected:   count(s.Selected),
		Excluded:   count(s.Excluded),
		Shadowed:   count(s.Shadowed),
		Deprecated: count(s.Deprecated),
		Unmirrored: count(len(unmirroredHosts(result))),
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

// count converts a number of applications, of which an archive cannot hold as many as an
// int32, for the API.
func count(n int) int32 {
	const maximum = 1<<31 - 1
	return int32(min(n, maximum)) //nolint:gosec // bounded in the same expression
}

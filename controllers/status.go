package controllers

import (
	"time"

	"github.com/fluxcd/pkg/apis/meta"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/bounds"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/selection"
)

// maxApplicationBytes bounds status.applications, counted as the strings in it: with their
// frame they take less than twice that in JSON. The safeguards do not need the list: with
// status.published, which has at most 256 KiB, the status stays below 512 KiB.
const maxApplicationBytes = 64 << 10

// recordPublication writes into the status what the ExternalArtifact now carries.
func recordPublication(cs *v1alpha1.CatalogSelection, artifact *meta.Artifact,
	result *render.Result, sources []v1alpha1.SourceStatus, took time.Duration) {
	last := cs.Status.Artifact
	if last == nil || last.Revision != artifact.Revision || last.Digest != artifact.Digest {
		cs.Status.History.Upsert(artifact.Digest, time.Now(), took.Round(time.Millisecond),
			v1alpha1.SucceededReason, map[string]string{"revision": artifact.Revision})
	}
	cs.Status.Artifact = artifact
	cs.Status.Sources = sources
	summary := summarize(result)
	if last := cs.Status.Summary; last != nil {
		summary.Bypassed, summary.Unmanaged = last.Bypassed, last.Unmanaged // until the cluster is looked at
		summary.SourceChanges = last.SourceChanges
	}
	cs.Status.Summary = summary
	cs.Status.Applications, cs.Status.ApplicationsTruncated = list(result.Selection)
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

func list(s selection.Result) ([]v1alpha1.ApplicationStatus, bool) {
	var apps []v1alpha1.ApplicationStatus
	budget := maxApplicationBytes
	for _, d := range s.Applications() {
		app := v1alpha1.ApplicationStatus{
			Name: d.Application.Name, Source: d.Source,
			Versions: d.Versions, Tier: d.Application.Metadata.Tier,
		}
		if budget -= size(app); budget < 0 {
			return apps, true
		}
		apps = append(apps, app)
	}
	return apps, false
}

// size is about the JSON of an application in bytes.
func size(app v1alpha1.ApplicationStatus) int {
	const frame = 16
	n := frame + len(app.Name) + len(app.Source) + len(app.Tier)
	for _, v := range app.Versions {
		n += len(v) + len(`"",`)
	}
	return n
}

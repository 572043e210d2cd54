// SPDX-License-Identifier: Apache-2.0

// Package listing writes a publication into the status of a selection, for people and at a readable length.
// It must not know how it was published, nor what the safeguards compare.
package listing

import (
	"slices"
	"time"

	"github.com/fluxcd/pkg/apis/meta"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/bounds"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/installation"
)

// Publication is a render that is published as an artifact.
type Publication struct {
	Artifact meta.Artifact
	Result   *render.Result
	// Sources of the render, at least one.
	Sources []v1alpha1.SourceStatus
	// Took is the time from the beginning of the reconciliation.
	Took time.Duration
	// SourceChanges is the number of versions from another source than in the previous revision; nil if the
	// revision is the same.
	SourceChanges *int
}

// After returns a status after the publication.
func (p Publication) After(status *v1alpha1.CatalogSelectionStatus) v1alpha1.CatalogSelectionStatus {
	next := *status.DeepCopy()
	last := status.Artifact
	if last == nil || last.Revision != p.Artifact.Revision || last.Digest != p.Artifact.Digest {
		next.History.Upsert(p.Artifact.Digest, time.Now(), p.Took.Round(time.Millisecond),
			v1alpha1.SucceededReason, map[string]string{"revision": p.Artifact.Revision})
	}
	next.Artifact = &p.Artifact
	next.Sources, next.SourceRevision = p.Sources, sourceRevision(p.Sources[0])
	summary := summarize(p.Result)
	if last := status.Summary; last != nil {
		summary.Bypassed, summary.Unmanaged, summary.Orphaned = last.Bypassed, last.Unmanaged, last.Orphaned // until SyncMarks counts them again
		summary.SourceChanges = last.SourceChanges
	}
	if p.SourceChanges != nil {
		summary.SourceChanges = bounds.Count(*p.SourceChanges)
	}
	next.Summary = summary
	next.Applications = listApplications(p.Result.Selection)
	next.ApplicationsTruncated = len(next.Applications) < p.Result.Selection.Selected
	next.Instances = listInstances(p.Result.Instances, status.Instances)
	next.Excluded = listExcluded(p.Result.Selection)
	next.Deprecated = listDeprecated(p.Result.Selection)
	return next
}

func summarize(result *render.Result) *v1alpha1.Summary {
	s := result.Selection
	return &v1alpha1.Summary{
		Available:          bounds.Count(s.Available),
		Selected:           bounds.Count(s.Selected),
		Instances:          bounds.Count(len(result.Instances)),
		Excluded:           bounds.Count(s.Excluded),
		Shadowed:           bounds.Count(s.Shadowed),
		Deprecated:         bounds.Count(s.Deprecated),
		DeprecatedVersions: bounds.Count(s.DeprecatedVersions),
		Unmirrored:         bounds.Count(len(unmirroredHosts(result))),
	}
}

// maxListedInstances bounds status.instances.
const maxListedInstances = 256

// listInstances returns the content of status.instances. An instance whose object is listed already keeps its state
// until the object is read again.
func listInstances(instances []installation.Instance, last []v1alpha1.InstanceStatus) []v1alpha1.InstanceStatus {
	var list []v1alpha1.InstanceStatus
	for _, in := range instances[:min(len(instances), maxListedInstances)] {
		listed := v1alpha1.InstanceStatus{
			Name: in.Name, Application: in.Application, Source: in.Source, Version: in.Version, Backend: in.Backend,
			Object: in.Main.Kind + " " + in.Main.Key().FullName(),
		}
		i := slices.IndexFunc(last, func(l v1alpha1.InstanceStatus) bool { return l.Name == in.Name && l.Object == listed.Object })
		if i >= 0 {
			listed.InstanceState = last[i].InstanceState
		}
		list = append(list, listed)
	}
	return list
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

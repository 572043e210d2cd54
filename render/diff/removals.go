package diff

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

func (d *differ) removed(before safeguard.Definition) Application {
	a := newApplication(before, Removed)
	a.Cause, a.Reason = d.cause(before.Key(), ""), guard.WhyGone(before.Key(), d.to.Result.Selection)
	deleted := !protected(d.older[before.Key()])
	a.Deleted = &deleted
	for _, version := range before.Versions {
		a.Versions = append(a.Versions, Version{Version: version, Change: Removed, Cause: a.Cause})
	}
	return a
}

// protected reports whether Flux keeps the live object of a definition that leaves the artifact. The live
// object keeps its annotations: the prune annotation of a newer spec is not applied to it any more.
func protected(object render.Object) bool {
	return guard.Kept(&unstructured.Unstructured{Object: object})
}

// kkpGroup is the API group of the Kubermatic Kubernetes Platform.
const kkpGroup = "apps.kubermatic.k8c.io"

// OfKKP reports whether KKP installs the application, and uninstalls it when its definition is deleted.
func (a Application) OfKKP() bool { return strings.HasPrefix(a.APIVersion, kkpGroup+"/") }

// Survives records that Flux keeps the live definition of a removed application.
func (s *Selection) Survives(application string) { s.settle(application, new(bool)) }

// Moved records that another selection publishes a removed application.
func (s *Selection) Moved(application string) { s.settle(application, nil) }

func (s *Selection) settle(application string, deleted *bool) {
	for i := range s.Applications {
		a := &s.Applications[i]
		if a.Name != application || a.Deleted == nil {
			continue
		}
		if *a.Deleted {
			s.Counts.Deleted--
		}
		a.Deleted = deleted
	}
}

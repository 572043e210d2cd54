// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/installation"
	"github.com/winnow-dev/winnow/render/instance"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Instance is the part of an instance that list and explain print.
type Instance struct {
	Name        string `json:"name"`
	Application string `json:"application"`
	Source      string `json:"source,omitempty"`
	// Requested is the version in the spec, absent for the default version.
	Requested string `json:"requested,omitempty"`
	// Version that is installed, absent for a definition without versions.
	Version string `json:"version,omitempty"`
	Backend string `json:"backend,omitempty"`
	// Namespace that the application runs in, where the object says it.
	Namespace string           `json:"namespace,omitempty"`
	Object    *Object          `json:"object,omitempty"`
	Release   *releaseIdentity `json:"release,omitempty"`
	// Reason why it is not installed. If it is set, Version and the fields after it are absent.
	Reason string `json:"reason,omitempty"`
}

// Object names an object.
type Object struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
}

// String returns <kind> <namespace>/<name>, as in the status.
func (o Object) String() string {
	return o.Kind + " " + strings.TrimPrefix(o.Namespace+"/"+o.Name, "/")
}

// releaseIdentity is a release of Helm.
type releaseIdentity struct {
	Name             string `json:"name"`
	StorageNamespace string `json:"storageNamespace"`
	TargetNamespace  string `json:"targetNamespace,omitempty"`
	Chart            string `json:"chart,omitempty"`
}

// SummarizeInstances returns the instances of a spec, sorted by name.
func SummarizeInstances(cs *v1alpha1.CatalogSelection, result *render.Result) []Instance {
	all := each.Map(result.Instances, SummarizeInstance)
	for _, u := range result.Unresolved {
		all = append(all, UnresolvedInstance(cs, u))
	}
	slices.SortFunc(all, func(a, b Instance) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// SummarizeInstance returns the part of an installed instance that is printed.
func SummarizeInstance(in installation.Instance) Instance {
	main := in.Main
	s := Instance{
		Name: in.Name, Application: in.Application, Source: in.Source, Requested: in.Requested, Version: in.Version, Backend: in.Backend,
		// The namespace of the release, or of the object where Cozystack installs it.
		Namespace: cmp.Or(main.Identity[safeguard.TargetNamespaceField], main.Namespace),
		Object:    &Object{APIVersion: main.APIVersion, Kind: main.Kind, Namespace: main.Namespace, Name: main.Name},
	}
	if name := main.Identity[safeguard.ReleaseField]; name != "" {
		s.Release = &releaseIdentity{
			Name: name, StorageNamespace: main.Identity[safeguard.StorageNamespaceField],
			TargetNamespace: main.Identity[safeguard.TargetNamespaceField], Chart: main.Identity[safeguard.ChartField],
		}
	}
	return s
}

// UnresolvedInstance returns the part of an instance that is printed if it is not installed.
func UnresolvedInstance(cs *v1alpha1.CatalogSelection, u instance.Unresolved) Instance {
	given := cs.Spec.Instances[u.Name]
	return Instance{Name: u.Name, Application: u.Application, Requested: given.Version, Backend: given.Backend, Reason: u.Reason}
}

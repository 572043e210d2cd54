// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"cmp"
	"crypto/sha1" //nolint:gosec // KKP names releases by it
	"crypto/sha256"
	"encoding/hex"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/value"
)

// Identity states which live object an instance is. Another identity under the name of an instance is another
// installation, which replaces what runs.
type Identity struct {
	schema.GroupVersionKind

	Namespace, Name string
	// Release is empty for objects that install no release of Helm.
	Release Release
	// Module of a Terraform object, which destroys what another one has made; empty for others.
	Module string
	// Package of OLM, and the namespace that a ClusterExtension installs it into. Neither can be changed; both are empty
	// for others.
	Package, PackageNamespace string
	// Channel that a Subscription follows; empty for others.
	Channel string
}

// MaxReleaseName is the limit of Helm, in bytes.
const MaxReleaseName = 53

// Release identifies a release of Helm. A change of any field uninstalls it.
type Release struct {
	StorageNamespace, Name string
	TargetNamespace        string
	// Chart is the name of the chart, empty if the instance does not say it.
	Chart string
}

// IdentityOf returns the identity of a main object, as patches may have changed it, or of a live object of its kind, with
// the defaults of its controller. The name of the chart is the name in the release that lives, or of a chart in a Helm
// repository.
func IdentityOf(main Object) Identity {
	identity := Identity{
		GroupVersionKind: main.GroupVersionKind(), Namespace: main.GetNamespace(), Name: main.GetName(),
	}
	text := func(fields ...string) string { return main.Spec(fields...).Text() }
	switch identity.GroupKind() {
	case kinds.HelmRelease.GroupKind():
		identity.Release = fluxRelease(identity, text)
		identity.Release.Chart = chartOf(main, text)
	case kinds.ApplicationInstallation.GroupKind():
		namespace := text("namespace", "name")
		identity.Release = Release{
			StorageNamespace: namespace, Name: kkpReleaseName(identity.Namespace, identity.Name), TargetNamespace: namespace,
		}
	case kinds.Subscription.GroupKind():
		identity.Package, identity.Channel = text("name"), text("channel")
	case kinds.ClusterExtension.GroupKind():
		identity.Package, identity.PackageNamespace = text("source", "catalog", "packageName"), text("namespace")
	case kinds.Terraform.GroupKind():
		source := cmp.Or(text("sourceRef", "namespace"), identity.Namespace) + "/" + text("sourceRef", "name")
		identity.Module = text("sourceRef", "kind") + " " + source + " ./" + strings.TrimPrefix(path.Join("/", text("path")), "/")
	}
	return identity
}

// fluxRelease returns the release of a HelmRelease as helm-controller calls it.
func fluxRelease(identity Identity, text func(fields ...string) string) Release {
	target := text("targetNamespace")
	name := identity.Name
	if target != "" {
		name = target + "-" + name
	}
	const digits = 12
	if len(name) > MaxReleaseName {
		sum := sha256.Sum256([]byte(name))
		name = name[:MaxReleaseName-1-digits] + "-" + hex.EncodeToString(sum[:])[:digits]
	}
	return Release{
		StorageNamespace: cmp.Or(text("storageNamespace"), identity.Namespace), Name: cmp.Or(text("releaseName"), name),
		TargetNamespace: cmp.Or(target, identity.Namespace),
	}
}

// chartOf returns the name of the chart of a HelmRelease, empty where only its source knows it.
func chartOf(release Object, text func(fields ...string) string) string {
	if history := value.Of(release.Object).Get("status", "history").Items(); len(history) > 0 {
		return history[0].Get("chartName").Text()
	}
	name := text("chart", "spec", "chart")
	if name == "" || text("chart", "spec", "sourceRef", "kind") != kinds.HelmRepository.Kind {
		return ""
	}
	return path.Base(name)
}

// ChartIn returns the name of the chart of a HelmRelease that comes from an OCIRepository among the objects, empty if none
// of them is its source.
func ChartIn(release Object, objects []Object) string {
	kind, name := release.Spec("chartRef", "kind").Text(), release.Spec("chartRef", "name").Text()
	i := slices.IndexFunc(objects, func(o Object) bool {
		return kind == kinds.OCIRepository.Kind && o.GroupVersionKind().GroupKind() == kinds.OCIRepository.GroupKind() &&
			o.GetNamespace() == release.GetNamespace() && o.GetName() == name
	})
	if i < 0 {
		return ""
	}
	return path.Base(objects[i].Spec("url").Text())
}

// kkpReleaseName returns the name that KKP gives to the release of an ApplicationInstallation.
func kkpReleaseName(namespace, name string) string {
	if joined := namespace + "-" + name; len(joined) <= MaxReleaseName {
		return joined
	}
	const digits = 9
	sum := sha1.Sum([]byte(namespace)) //nolint:gosec // KKP names releases by it
	return name[:min(len(name), MaxReleaseName-1-digits)] + "-" + hex.EncodeToString(sum[:])[:digits]
}

package backend

import (
	"cmp"
	"crypto/sha1" //nolint:gosec // KKP names releases by it
	"crypto/sha256"
	"encoding/hex"
	"path"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Role of an object decides what it is published with.
type Role string

// Roles.
const (
	// Definition is an application of the catalog. No backend makes one.
	Definition Role = "definition"
	// Main is the object whose deletion uninstalls the application.
	Main Role = "main"
	// Source is where charts come from. Instances share it.
	Source Role = "source"
	// Values are default values.
	Values Role = "values"
	// Shared is what several instances need as long as one of them is installed.
	Shared Role = "shared"
	// OperatorGroup is that of a namespace. Without it OLM stops all operators of the namespace, and it does not stop an
	// operator whose Subscription goes, so it stays.
	OperatorGroup Role = "operatorGroup"
	// Namespace is one that an application runs in. Instances share it.
	Namespace Role = "namespace"
)

// Object is an object of an instance.
type Object struct {
	*unstructured.Unstructured

	Role Role
	// Bytes that the object takes as JSON.
	Bytes int
}

// Identity says which live object an instance is. Another identity under the name of an instance is another
// installation, which replaces what runs.
type Identity struct {
	schema.GroupVersionKind

	Namespace, Name string
	// Release is empty for objects that install no release of Helm.
	Release Release
	// Module of a Terraform object, which destroys what another one has made; empty for others.
	Module string
	// Package of OLM, and the namespace that a ClusterExtension installs it into, neither of which can be changed; empty
	// for others.
	Package, PackageNamespace string
	// Channel that a Subscription follows; empty for others.
	Channel string
	// Targets are the namespaces that the operator of a Subscription watches; empty where they are not known.
	Targets string
}

// Release identifies a release of Helm. A change of any field uninstalls it.
type Release struct {
	StorageNamespace, Name string
	TargetNamespace        string
	// Chart is the name of the chart, empty if the instance does not say it.
	Chart string
}

// IdentityOf returns the identity of a main object, as patches may have changed it, or of a live object of its kind, with
// the defaults of its controller. The name of the chart is that of the release that lives, or of a chart in a Helm
// repository.
func IdentityOf(main Object) Identity {
	identity := Identity{
		GroupVersionKind: main.GroupVersionKind(), Namespace: main.GetNamespace(), Name: main.GetName(),
	}
	text := func(fields ...string) string {
		value, _, _ := unstructured.NestedString(main.Object, append([]string{"spec"}, fields...)...)
		return value
	}
	switch identity.GroupKind() {
	case helmReleaseKind.GroupKind():
		identity.Release = fluxRelease(identity, text)
		identity.Release.Chart = chartOf(main, text)
	case installationKind.GroupKind():
		namespace := text("namespace", "name")
		identity.Release = Release{
			StorageNamespace: namespace, Name: kkpReleaseName(identity.Namespace, identity.Name), TargetNamespace: namespace,
		}
	case subscriptionKind.GroupKind():
		identity.Package, identity.Channel = text("name"), text("channel")
	case extensionKind.GroupKind():
		identity.Package, identity.PackageNamespace = text("source", "catalog", "packageName"), text("namespace")
	case terraformKind.GroupKind():
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
	if len(name) > maxReleaseName {
		sum := sha256.Sum256([]byte(name))
		name = name[:maxReleaseName-1-digits] + "-" + hex.EncodeToString(sum[:])[:digits]
	}
	return Release{
		StorageNamespace: cmp.Or(text("storageNamespace"), identity.Namespace), Name: cmp.Or(text("releaseName"), name),
		TargetNamespace: cmp.Or(target, identity.Namespace),
	}
}

// chartOf returns the name of the chart of a HelmRelease, empty where only its source knows it.
func chartOf(release Object, text func(fields ...string) string) string {
	history, _, _ := unstructured.NestedSlice(release.Object, "status", "history")
	if len(history) > 0 {
		latest, _ := history[0].(map[string]any)
		name, _ := latest["chartName"].(string)
		return name
	}
	name := text("chart", "spec", "chart")
	if name == "" || text("chart", "spec", "sourceRef", "kind") != helmRepositoryKind.Kind {
		return ""
	}
	return chart{name: name}.base()
}

// ChartIn returns the name of the chart of a HelmRelease that comes from an OCIRepository among the objects, empty if none
// of them is its source.
func ChartIn(release Object, objects []Object) string {
	kind, _, _ := unstructured.NestedString(release.Object, "spec", "chartRef", "kind")
	name, _, _ := unstructured.NestedString(release.Object, "spec", "chartRef", "name")
	i := slices.IndexFunc(objects, func(o Object) bool {
		return kind == ociRepositoryKind.Kind && o.GroupVersionKind().GroupKind() == ociRepositoryKind.GroupKind() &&
			o.GetNamespace() == release.GetNamespace() && o.GetName() == name
	})
	if i < 0 {
		return ""
	}
	address, _, _ := unstructured.NestedString(objects[i].Object, "spec", "url")
	return chart{name: address}.base()
}

// kkpReleaseName returns the name that KKP gives to the release of an ApplicationInstallation.
func kkpReleaseName(namespace, name string) string {
	if joined := namespace + "-" + name; len(joined) <= maxReleaseName {
		return joined
	}
	const digits = 9
	sum := sha1.Sum([]byte(namespace)) //nolint:gosec // KKP names releases by it
	return name[:min(len(name), maxReleaseName-1-digits)] + "-" + hex.EncodeToString(sum[:])[:digits]
}

// defaultsInfix stands between the name of an instance and the digest of its default values.
const defaultsInfix = "-defaults-"

var replaceablePattern = regexp.MustCompile(`-[0-9a-f]{10}$`)

// IsReplaceable reports whether an object is a source or default values by its name, of which every content has another:
// another object has taken its place where it is gone.
func IsReplaceable(group, kind, name string) bool {
	switch (schema.GroupKind{Group: group, Kind: kind}) {
	case ociRepositoryKind.GroupKind(), helmRepositoryKind.GroupKind():
		return replaceablePattern.MatchString(name)
	case configMapKind.GroupKind():
		return replaceablePattern.MatchString(name) && strings.Contains(name, defaultsInfix)
	}
	return false
}

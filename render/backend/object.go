package backend

import (
	"crypto/sha1" //nolint:gosec // KKP names releases by it
	"encoding/hex"

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
	// Namespace is one that an application runs in. Instances share it.
	Namespace Role = "namespace"
)

// Object is an object of an instance.
type Object struct {
	*unstructured.Unstructured

	Role Role
}

// Identity says which live object an instance is. Another identity under the name of an instance is another
// installation, which replaces what runs.
type Identity struct {
	schema.GroupVersionKind

	Namespace, Name string
	// Release is empty for objects that install no release of Helm.
	Release Release
}

// Release identifies a release of Helm. A change of any field uninstalls it.
type Release struct {
	StorageNamespace, Name string
	TargetNamespace        string
	// Chart is the name of the chart, empty if the instance does not say it.
	Chart string
}

// IdentityOf returns the identity of a main object, as patches may have changed it, without the chart's name.
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
		identity.Release = Release{
			StorageNamespace: text("storageNamespace"), Name: text("releaseName"), TargetNamespace: text("targetNamespace"),
		}
	case installationKind.GroupKind():
		namespace := text("namespace", "name")
		identity.Release = Release{
			StorageNamespace: namespace, Name: kkpReleaseName(identity.Namespace, identity.Name), TargetNamespace: namespace,
		}
	}
	return identity
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

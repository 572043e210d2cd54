// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

var (
	clusterCatalogKind = schema.GroupVersionKind{Group: "olm.operatorframework.io", Version: "v1", Kind: v1alpha1.PushClusterCatalog}
	catalogSourceKind  = schema.GroupVersionKind{Group: "operators.coreos.com", Version: "v1alpha1", Kind: v1alpha1.PushCatalogSource}
)

// ServedCatalog is the catalog of OLM that serves the packages of a selection.
type ServedCatalog struct {
	// Kind is ClusterCatalog or CatalogSource.
	Kind string

	v1alpha1.CatalogReference
}

// Serve returns the catalog of a selection. A CatalogSource is in namespace.
func Serve(kind, namespace, selectionNamespace, selection string) *ServedCatalog {
	return &ServedCatalog{Kind: kind, CatalogReference: v1alpha1.CatalogReference{Namespace: namespace, Name: servedName(selectionNamespace, selection)}}
}

// servedName returns the name of the catalog of a selection. OLM makes labels and Services of it, which have at most 63
// characters and no dots. The digest tells selections of several namespaces apart.
func servedName(namespace, selection string) string {
	const longest, digits = 40, 10
	sum := sha256.Sum256([]byte(namespace + "/" + selection))
	name := strings.ReplaceAll(selection, ".", "-")
	name = strings.TrimRight(name[:min(len(name), longest)], "-")
	return "winnow-" + name + "-" + hex.EncodeToString(sum[:])[:digits]
}

// Object returns the catalog with an image, which has a digest: OLM need not look for another one.
func (s ServedCatalog) Object(image string) Object {
	kind := clusterCatalogKind
	spec := map[string]any{"source": map[string]any{"type": "Image", "image": map[string]any{"ref": image}}}
	if s.Kind == v1alpha1.PushCatalogSource {
		kind = catalogSourceKind
		spec = map[string]any{
			"sourceType": "grpc", "image": image,
			// Without cacheDir: the image has no cache, and OLM would fail to copy it.
			"grpcPodConfig": map[string]any{"extractContent": map[string]any{"catalogDir": "/configs"}},
		}
	}
	object := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	object.SetGroupVersionKind(kind)
	object.SetNamespace(s.Namespace)
	object.SetName(s.Name)
	return Object{Unstructured: object, Role: Shared}
}

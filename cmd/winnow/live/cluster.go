// SPDX-License-Identifier: Apache-2.0

package live

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/winnow-dev/winnow/render/each"
)

// maxLive bounds the number of live definitions.
const maxLive = 50_000

// Cluster is a connection to a cluster.
type Cluster struct {
	// Namespace is from the context in the kubeconfig, or else default.
	Namespace string

	// raw reads the served resources: the discovery client would link all types of Kubernetes into the
	// program.
	raw     rest.Interface
	objects dynamic.Interface
	// metadata reads the metadata of objects alone.
	metadata dynamic.Interface
}

// Open configures a client as kubectl does, using a context of a kubeconfig. Empty arguments select kubectl's defaults.
// It sends no request yet.
func Open(kubeconfig, kubeContext string) (*Cluster, error) {
	rules := rulesOf(kubeconfig)
	loaded := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: kubeContext})
	config, err := loaded.ClientConfig()
	switch {
	case clientcmd.IsEmptyConfig(err):
		return nil, errors.New("reading the kubeconfig: no cluster is configured: set KUBECONFIG, or pass --kubeconfig FILE")
	case err != nil:
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	config.QPS = -1 // the API server limits the rate; a client that does so fails before a deadline
	namespace, _, err := loaded.Namespace()
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	plain := rest.CopyConfig(config)
	plain.NegotiatedSerializer = serializer.NewCodecFactory(runtime.NewScheme()).WithoutConversion()
	raw, rawErr := rest.UnversionedRESTClientFor(plain)
	objects, objectsErr := dynamic.NewForConfig(config)
	metadata, metadataErr := newMetadata(config)
	if err := cmp.Or(rawErr, objectsErr, metadataErr); err != nil {
		return nil, fmt.Errorf("connecting to the cluster: %w", err)
	}
	return &Cluster{Namespace: namespace, raw: raw, objects: objects, metadata: metadata}, nil
}

// Contexts returns the names of the contexts in a kubeconfig, or in kubectl's. It returns none if they cannot be read.
func Contexts(kubeconfig string) []string {
	config, err := rulesOf(kubeconfig).Load()
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(config.Contexts))
}

func rulesOf(kubeconfig string) *clientcmd.ClientConfigLoadingRules {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	return rules
}

// Namespaces returns the names of all namespaces.
func (c *Cluster) Namespaces(ctx context.Context) ([]string, error) {
	all, _, err := pages(ctx, c.objects.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}), metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("reading the namespaces: %w", err)
	}
	return each.Map(all, func(n unstructured.Unstructured) string { return n.GetName() }), nil
}

// list returns all objects of a kind, and none of a kind that the cluster does not serve.
func (c *Cluster) list(ctx context.Context, gvk schema.GroupVersionKind) ([]unstructured.Unstructured, error) {
	return c.listBy(ctx, c.objects, gvk, metav1.ListOptions{})
}

func (c *Cluster) listBy(ctx context.Context, client dynamic.Interface, gvk schema.GroupVersionKind, options metav1.ListOptions) ([]unstructured.Unstructured, error) {
	served, err := c.resource(ctx, gvk)
	if err != nil || served == "" {
		return nil, err
	}
	all, _, err := pages(ctx, client.Resource(gvk.GroupVersion().WithResource(served)), options)
	if err != nil {
		return nil, fmt.Errorf("reading the live %s objects: %w", gvk.Kind, err)
	}
	return all, nil
}

// pages returns all objects of a resource, and the version from which a watch continues.
func pages(ctx context.Context, resource dynamic.ResourceInterface, options metav1.ListOptions) (all []unstructured.Unstructured, version string, err error) {
	for options.Limit = 250; ; {
		page, err := resource.List(ctx, options)
		if err != nil {
			return nil, "", err
		}
		all, version = append(all, page.Items...), page.GetResourceVersion()
		if len(all) > maxLive {
			return nil, "", fmt.Errorf("the cluster has more than %d objects", maxLive)
		}
		if options.Continue = page.GetContinue(); options.Continue == "" {
			return all, version, nil
		}
	}
}

// resource returns the name of the resource of a kind, empty if the API server does not serve it.
func (c *Cluster) resource(ctx context.Context, gvk schema.GroupVersionKind) (string, error) {
	content, err := c.raw.Get().AbsPath("/apis", gvk.Group, gvk.Version).Do(ctx).Raw()
	if apierrors.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("reading the resources of %s: %w", gvk.GroupVersion(), err)
	}
	var served metav1.APIResourceList
	if err := json.Unmarshal(content, &served); err != nil {
		return "", fmt.Errorf("decoding the resources of %s: %w", gvk.GroupVersion(), err)
	}
	for _, r := range served.APIResources {
		if r.Kind == gvk.Kind && slices.Contains(r.Verbs, "list") {
			return r.Name, nil
		}
	}
	return "", nil
}

// FieldManager is the field manager of all writes.
const FieldManager = "winnow"

// metadataOnly is the header of requests that are answered with the metadata of objects alone.
const metadataOnly = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

type accepting struct{ http.RoundTripper }

func (a accepting) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Accept", metadataOnly)
	return a.RoundTripper.RoundTrip(r)
}

// newMetadata returns a client that reads nothing of an object but its metadata.
func newMetadata(config *rest.Config) (dynamic.Interface, error) {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return accepting{next} })
	return dynamic.NewForConfig(config)
}

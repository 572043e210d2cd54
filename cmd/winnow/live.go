package main

import (
	"context"
	"encoding/json"
	"fmt"
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

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// maxLive bounds the live definitions that are read.
const maxLive = 50_000

// liveCluster is the cluster of --live, which is only read.
type liveCluster struct {
	// raw reads what the API server serves: the discovery client brings along all types of
	// Kubernetes.
	raw     rest.Interface
	objects dynamic.Interface
}

// openCluster connects as kubectl does.
func openCluster(kubeconfig, kubeContext string) (*liveCluster, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules,
		&clientcmd.ConfigOverrides{CurrentContext: kubeContext}).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig for --live: %w", err)
	}
	plain := rest.CopyConfig(config)
	plain.NegotiatedSerializer = serializer.NewCodecFactory(runtime.NewScheme()).WithoutConversion()
	raw, err := rest.UnversionedRESTClientFor(plain)
	if err != nil {
		return nil, fmt.Errorf("connecting to the cluster: %w", err)
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("connecting to the cluster: %w", err)
	}
	return &liveCluster{raw: raw, objects: objects}, nil
}

// compareSides compares two states, with the cluster if there is one.
func compareSides(ctx context.Context, cluster *liveCluster, from, to *diff.Side) (*diff.Selection, error) {
	if cluster == nil || to == nil {
		return diff.Compare(ctx, from, to, nil)
	}
	var published []safeguard.Definition
	if from != nil {
		published = from.Published().Definitions
	}
	found, err := cluster.adopt(ctx, to.Selection, published, to.Result)
	if err != nil {
		return nil, fmt.Errorf("looking at the cluster: %w", err)
	}
	compared, err := diff.Compare(ctx, from, to, found.adopted)
	if err != nil {
		return nil, err
	}
	compared.Live = true
	compared.Bypassed = append(compared.Bypassed, found.bypassed...)
	compared.Notes = append(compared.Notes, ownerNotes(found.entering, found.live)...)
	for key, live := range found.live {
		if live.Kept {
			compared.Survives(key.Name)
		}
	}
	if err := compared.Adopt(to, found.live); err != nil {
		return nil, err
	}
	return compared, compared.Take(to.Result.Definitions, found.replaced)
}

// looked is what was found in a cluster.
type looked struct {
	// adopted is what live definitions lose, replaced what people set in them, and bypassed are the
	// names of those that Flux leaves alone.
	adopted  []safeguard.Change
	replaced map[safeguard.Key]guard.Replaced
	bypassed []string
	// entering are those that the publication takes over, live all definitions of the kinds that are looked at.
	entering []safeguard.Definition
	live     map[safeguard.Key]diff.Live
}

// adopt looks at the live definitions that the result takes over.
func (c *liveCluster) adopt(ctx context.Context, cs *v1alpha1.CatalogSelection,
	published []safeguard.Definition, result *render.Result) (looked, error) {
	next := result.Definitions
	contents := map[safeguard.Key]map[string]any{}
	lives := map[safeguard.Key]diff.Live{}
	var live []*guard.Live
	for _, gvk := range guard.Kinds(published, next) {
		objects, err := c.list(ctx, gvk)
		if err != nil {
			return looked{}, err
		}
		for i := range objects {
			object := metadataOf(&objects[i])
			live = append(live, object)
			contents[guard.LiveKey(object)] = objects[i].Object
			untouched := guard.Honored(cs, object) || guard.Untouched(object)
			lives[guard.LiveKey(object)] = diff.Live{
				Object: objects[i].Object, Untouched: untouched,
				Kept: untouched || guard.Kept(object),
			}
		}
	}
	mine := map[safeguard.Key]bool{}
	for _, d := range slices.Concat(published, next) {
		mine[d.Key()] = true
	}
	var bypassed []string
	for _, object := range live {
		if guard.Honored(cs, object) && (mine[guard.LiveKey(object)] || guard.AppliedBy(cs, object)) {
			bypassed = append(bypassed, object.Name)
		}
	}
	// The controller marks what is bypassed before it publishes.
	adoption := guard.Adopt(cs, published, next, live, published == nil, func(o *guard.Live) bool { return guard.Honored(cs, o) })
	var entering []safeguard.Definition
	for _, object := range adoption.Entering {
		d := safeguard.Definition{APIVersion: object.APIVersion, Kind: object.Kind, Name: object.Name}
		d.Versions = safeguard.Versions(contents[d.Key()])
		entering = append(entering, d)
	}
	replaced, err := replacedBy(result, entering, contents)
	if err != nil {
		return looked{}, err
	}
	slices.Sort(bypassed)
	return looked{adopted: adoption.Changes(entering, replaced), replaced: replaced, bypassed: bypassed, entering: entering, live: lives}, nil
}

// replacedBy compares what people set in live definitions with the objects that take them over.
func replacedBy(result *render.Result, entering []safeguard.Definition,
	contents map[safeguard.Key]map[string]any) (map[safeguard.Key]guard.Replaced, error) {
	var names []string
	for _, d := range entering {
		names = append(names, d.Name)
	}
	if len(names) == 0 {
		return nil, nil
	}
	objects, err := result.Objects(names)
	if err != nil {
		return nil, err
	}
	replaced := map[safeguard.Key]guard.Replaced{}
	for _, d := range entering {
		replaced[d.Key()] = guard.SettingsOf(objects[d.Name]).Replaces(guard.SettingsOf(contents[d.Key()]))
	}
	return replaced, nil
}

func metadataOf(u *unstructured.Unstructured) *guard.Live {
	return &guard.Live{
		TypeMeta: metav1.TypeMeta{APIVersion: u.GetAPIVersion(), Kind: u.GetKind()},
		ObjectMeta: metav1.ObjectMeta{
			Name: u.GetName(), UID: u.GetUID(), Labels: u.GetLabels(), Annotations: u.GetAnnotations(),
			ManagedFields: u.GetManagedFields(),
		},
	}
}

// list returns all objects of a kind; a kind that the cluster does not have, has none.
func (c *liveCluster) list(ctx context.Context, gvk schema.GroupVersionKind) ([]unstructured.Unstructured, error) {
	served, err := c.resource(ctx, gvk)
	if err != nil || served == "" {
		return nil, err
	}
	resource := c.objects.Resource(gvk.GroupVersion().WithResource(served))
	var all []unstructured.Unstructured
	for options := (metav1.ListOptions{Limit: 250}); ; {
		page, err := resource.List(ctx, options)
		if err != nil {
			return nil, fmt.Errorf("reading the live %s objects: %w", gvk.Kind, err)
		}
		all = append(all, page.Items...)
		if len(all) > maxLive {
			return nil, fmt.Errorf("the cluster has more than %d %s objects", maxLive, gvk.Kind)
		}
		if options.Continue = page.GetContinue(); options.Continue == "" {
			return all, nil
		}
	}
}

// resource returns what the API server calls a kind, empty where it does not serve it.
func (c *liveCluster) resource(ctx context.Context, gvk schema.GroupVersionKind) (string, error) {
	content, err := c.raw.Get().AbsPath("/apis", gvk.Group, gvk.Version).Do(ctx).Raw()
	if apierrors.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("asking for %s: %w", gvk.GroupVersion(), err)
	}
	var served metav1.APIResourceList
	if err := json.Unmarshal(content, &served); err != nil {
		return "", fmt.Errorf("reading what there is of %s: %w", gvk.GroupVersion(), err)
	}
	for _, r := range served.APIResources {
		if r.Kind == gvk.Kind && slices.Contains(r.Verbs, "list") {
			return r.Name, nil
		}
	}
	return "", nil
}

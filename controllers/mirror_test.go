// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// mirror is a client that sends a read only if the answer is not known. A reconciliation reads the same objects many times. In
// production the cache of the manager answers, which follows the API server with a delay. The mirror has no delay: it sees
// each write of this process before the writer continues. It mirrors only kinds that neither the API server nor another
// process writes, and that no client writes which is not made with its configuration.
type mirror struct {
	client.WithWatch
	// resources maps the mirrored types, and the types of their lists, to resources.
	resources map[reflect.Type]schema.GroupResource
	// watched counts the writes to other kinds than sources, selections and their artifacts.
	watched atomic.Int64

	mu sync.Mutex
	// writes counts the writes: an answer is kept only if there was no other write since the request.
	writes  int
	objects map[mirrorKey]client.Object
	// members are all objects of a resource in a namespace, or in all.
	members map[mirrorKey][]types.NamespacedName
}

// mirrorKey names an object; without a name, all objects of a namespace; and without a namespace, all objects.
type mirrorKey struct {
	schema.GroupResource
	types.NamespacedName
}

// newMirror returns a client for the configuration, which it changes: the mirror sees the writes of all clients that are made
// with it afterwards.
func newMirror(config *rest.Config, options client.Options) (*mirror, error) {
	m := &mirror{
		resources: map[reflect.Type]schema.GroupResource{},
		objects:   map[mirrorKey]client.Object{}, members: map[mirrorKey][]types.NamespacedName{},
	}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			response, err := next.RoundTrip(r)
			if r.Method != http.MethodGet && (err != nil || response.StatusCode < http.StatusBadRequest) && !r.URL.Query().Has("dryRun") {
				m.written(r)
			}
			return response, err
		})
	})
	for _, mirrored := range []runtime.Object{
		&v1alpha1.CatalogSelection{}, &v1alpha1.CatalogSelectionList{}, &kustomizev1.Kustomization{}, &kustomizev1.KustomizationList{},
		&sourcev1.ExternalArtifact{}, &sourcev1.OCIRepository{}, &sourcev1.GitRepository{}, &sourcev1.Bucket{},
	} {
		gvk, err := apiutil.GVKForObject(mirrored, options.Scheme)
		if err != nil {
			return nil, err
		}
		gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
		resource, _ := apimeta.UnsafeGuessKindToResource(gvk)
		m.resources[reflect.TypeOf(mirrored)] = resource.GroupResource()
	}
	sender, err := client.NewWithWatch(config, options)
	m.WithWatch = sender
	return m, err
}

// written forgets what a write to /apis/<group>/<version>/namespaces/<namespace>/<resource>[/<name>[/...]] may have changed.
func (m *mirror) written(r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.writes++
	parts := strings.Split(r.URL.Path, "/")
	if len(parts) < 7 || parts[2] != sourcev1.GroupVersion.Group && parts[2] != v1alpha1.GroupVersion.Group {
		m.watched.Add(1)
	}
	if len(parts) < 7 || parts[1] != "apis" || parts[4] != "namespaces" {
		return
	}
	at := mirrorKey{schema.GroupResource{Group: parts[2], Resource: parts[6]}, types.NamespacedName{Namespace: parts[5]}}
	if len(parts) > 7 {
		at.Name = parts[7]
		delete(m.objects, at)
	}
	if r.Method == http.MethodPost || r.Method == http.MethodDelete || r.Header.Get("Content-Type") == string(types.ApplyYAMLPatchType) {
		delete(m.members, namespaceOf(at))
		delete(m.members, allOf(at))
	}
	if r.Method == http.MethodDelete && at.Name == "" {
		maps.DeleteFunc(m.objects, func(key mirrorKey, _ client.Object) bool { return namespaceOf(key) == at })
	}
}

func namespaceOf(at mirrorKey) mirrorKey {
	at.Name = ""
	return at
}

func allOf(at mirrorKey) mirrorKey { return mirrorKey{GroupResource: at.GroupResource} }

// Get implements client.Reader.
func (m *mirror) Get(ctx context.Context, key client.ObjectKey, object client.Object, opts ...client.GetOption) error {
	resource, mirrored := m.resources[reflect.TypeOf(object)]
	plain := client.GetOptions{UnsafeDisableDeepCopy: (&client.GetOptions{}).ApplyOptions(opts).UnsafeDisableDeepCopy} // it copies anyway
	if !reflect.DeepEqual(*(&client.GetOptions{}).ApplyOptions(opts), plain) || !mirrored || ctx.Err() != nil {
		return m.WithWatch.Get(ctx, key, object, opts...)
	}
	last, err := m.object(ctx, mirrorKey{resource, key}, reflect.TypeOf(object).Elem())
	if err == nil {
		reflect.ValueOf(object).Elem().Set(reflect.ValueOf(last.DeepCopyObject()).Elem())
	}
	return err
}

// object returns an object of a type. The caller does not modify it.
func (m *mirror) object(ctx context.Context, at mirrorKey, of reflect.Type) (client.Object, error) {
	m.mu.Lock()
	last, known := m.objects[at]
	members, complete := m.members[namespaceOf(at)]
	writes := m.writes
	m.mu.Unlock()
	switch {
	case known:
		return last, nil
	case complete && !slices.Contains(members, at.NamespacedName):
		return nil, apierrors.NewNotFound(at.GroupResource, at.Name)
	}
	object := reflect.New(of).Interface().(client.Object)
	err := m.WithWatch.Get(ctx, at.NamespacedName, object)
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.writes != writes:
	case err == nil:
		m.objects[at] = object
	case apierrors.IsNotFound(err) && complete:
		m.members[namespaceOf(at)] = slices.DeleteFunc(slices.Clone(members), func(key types.NamespacedName) bool { return key == at.NamespacedName })
	}
	return object, err
}

// List implements client.Reader.
func (m *mirror) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	options := (&client.ListOptions{}).ApplyOptions(opts)
	plain := client.ListOptions{Namespace: options.Namespace, Limit: options.Limit, UnsafeDisableDeepCopy: options.UnsafeDisableDeepCopy}
	resource, mirrored := m.resources[reflect.TypeOf(list)]
	if !mirrored || ctx.Err() != nil || !reflect.DeepEqual(*options, plain) {
		return m.WithWatch.List(ctx, list, opts...)
	}
	at := mirrorKey{resource, types.NamespacedName{Namespace: options.Namespace}}
	m.mu.Lock()
	members, known := m.members[at]
	writes := m.writes
	m.mu.Unlock()
	if known && (options.Limit == 0 || int64(len(members)) < options.Limit) {
		return m.fill(ctx, list, resource, members, options.UnsafeDisableDeepCopy != nil)
	}
	if err := m.WithWatch.List(ctx, list, opts...); err != nil || list.GetContinue() != "" {
		return err
	}
	return m.keep(list, at, writes)
}

// fill sets the items of a list to the objects with these names that exist.
func (m *mirror) fill(ctx context.Context, list client.ObjectList, resource schema.GroupResource, names []types.NamespacedName, shared bool) error {
	field, _ := reflect.TypeOf(list).Elem().FieldByName("Items")
	items := []runtime.Object{}
	for _, name := range names {
		object, err := m.object(ctx, mirrorKey{resource, name}, field.Type.Elem())
		switch {
		case apierrors.IsNotFound(err):
			continue
		case err != nil:
			return err
		case !shared:
			object = object.DeepCopyObject().(client.Object)
		}
		items = append(items, object)
	}
	return apimeta.SetList(list, items)
}

// keep keeps the items of a list that was requested after a number of writes.
func (m *mirror) keep(list client.ObjectList, at mirrorKey, writes int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.writes != writes {
		return nil
	}
	m.members[at] = nil
	return apimeta.EachListItem(list, func(item runtime.Object) error {
		object := item.DeepCopyObject().(client.Object)
		one := mirrorKey{at.GroupResource, client.ObjectKeyFromObject(object)}
		m.members[at] = append(m.members[at], one.NamespacedName)
		m.objects[one] = object
		return nil
	})
}

// write sends a write, and keeps the object as the API server returned it.
func (m *mirror) write(object client.Object, send func() error) error {
	m.mu.Lock()
	writes := m.writes
	m.mu.Unlock()
	err := send()
	resource, mirrored := m.resources[reflect.TypeOf(object)]
	m.mu.Lock()
	defer m.mu.Unlock()
	// A dry run is no write, and after a write of another goroutine it is not known which of them was the last one.
	if err == nil && mirrored && m.writes == writes+1 && object.GetDeletionTimestamp().IsZero() {
		m.objects[mirrorKey{resource, client.ObjectKeyFromObject(object)}] = object.DeepCopyObject().(client.Object)
	}
	return err
}

// Create implements client.Writer. It knows that a new namespace is empty.
func (m *mirror) Create(ctx context.Context, object client.Object, opts ...client.CreateOption) error {
	at := mirrorKey{m.resources[reflect.TypeOf(object)], client.ObjectKeyFromObject(object)}
	m.mu.Lock()
	writes, before := m.writes, map[mirrorKey][]types.NamespacedName{}
	for _, scope := range []mirrorKey{namespaceOf(at), allOf(at)} {
		if members, known := m.members[scope]; known {
			before[scope] = members
		}
	}
	m.mu.Unlock()
	if err := m.write(object, func() error { return m.WithWatch.Create(ctx, object, opts...) }); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := object.(*corev1.Namespace); ok {
		for _, resource := range m.resources {
			m.members[mirrorKey{resource, types.NamespacedName{Namespace: object.GetName()}}] = nil
		}
	}
	for scope, members := range before {
		if m.writes == writes+1 {
			m.members[scope] = slices.SortedFunc(slices.Values(append(slices.Clone(members), at.NamespacedName)), byName)
		}
	}
	return nil
}

func byName(a, b types.NamespacedName) int { return strings.Compare(a.String(), b.String()) }

// Update implements client.Writer.
func (m *mirror) Update(ctx context.Context, object client.Object, opts ...client.UpdateOption) error {
	return m.write(object, func() error { return m.WithWatch.Update(ctx, object, opts...) })
}

// Patch implements client.Writer.
func (m *mirror) Patch(ctx context.Context, object client.Object, patch client.Patch, opts ...client.PatchOption) error {
	return m.write(object, func() error { return m.WithWatch.Patch(ctx, object, patch, opts...) })
}

// Status implements client.StatusClient.
func (m *mirror) Status() client.SubResourceWriter { return m.SubResource("status") }

// SubResource implements client.SubResourceClientConstructor.
func (m *mirror) SubResource(name string) client.SubResourceClient {
	return mirroredSubResource{m.WithWatch.SubResource(name), m}
}

type mirroredSubResource struct {
	client.SubResourceClient
	mirror *mirror
}

// Update implements client.SubResourceWriter.
func (s mirroredSubResource) Update(ctx context.Context, object client.Object, opts ...client.SubResourceUpdateOption) error {
	return s.mirror.write(object, func() error { return s.SubResourceClient.Update(ctx, object, opts...) })
}

// Patch implements client.SubResourceWriter.
func (s mirroredSubResource) Patch(ctx context.Context, object client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
	return s.mirror.write(object, func() error { return s.SubResourceClient.Patch(ctx, object, patch, opts...) })
}

package controllers

import (
	"context"
	"net/http"
	"reflect"
	"strings"
	"sync"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
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

// mirror is a client that sends a read only if the object may have changed since the last answer. A reconciliation reads the
// same objects many times. In production the cache of the manager answers, which follows the API server with a delay. The
// mirror has no delay: it sees each write of this process before the writer continues. It mirrors only kinds that neither the
// API server nor another process writes.
type mirror struct {
	client.WithWatch

	mu sync.Mutex
	// objects are the last answers, and lists the members of a kind, in a namespace or in all.
	objects map[mirrorKey]lastAnswer
	lists   map[mirrorKey]lastMembers
	// writes counts the requests that may have changed an object, additions those that may have added objects, and total all.
	writes, additions map[mirrorKey]int
	total             int
}

// mirrorKey names an object; without a name, all objects of a namespace; and without a namespace, all objects.
type mirrorKey struct {
	schema.GroupResource
	types.NamespacedName
}

// version is how many requests may have changed an object.
type version struct{ writes, additions int }

type lastAnswer struct {
	version
	object client.Object
	err    error // NotFound, or nil
}

type lastMembers struct {
	additions int
	names     []types.NamespacedName
}

// newMirror returns a client for the configuration, which it changes: the mirror sees the writes of all clients that are made
// with it afterwards.
func newMirror(config *rest.Config, options client.Options) (*mirror, error) {
	m := &mirror{
		objects: map[mirrorKey]lastAnswer{}, lists: map[mirrorKey]lastMembers{}, writes: map[mirrorKey]int{}, additions: map[mirrorKey]int{},
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
	sender, err := client.NewWithWatch(config, options)
	m.WithWatch = sender
	return m, err
}

// written notes a write to /apis/<group>/<version>/namespaces/<namespace>/<resource>[/<name>[/...]].
func (m *mirror) written(r *http.Request) {
	parts := strings.Split(r.URL.Path, "/")
	if len(parts) < 7 || parts[1] != "apis" || parts[4] != "namespaces" {
		return
	}
	at := mirrorKey{schema.GroupResource{Group: parts[2], Resource: parts[6]}, types.NamespacedName{Namespace: parts[5]}}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.total++
	if len(parts) > 7 {
		at.Name = parts[7]
		m.writes[at]++
	}
	if len(parts) == 7 || r.Header.Get("Content-Type") == string(types.ApplyYAMLPatchType) {
		at.Name = ""
		m.additions[at]++
		at.Namespace = ""
		m.additions[at]++
	}
}

// version returns the version of an object. The caller holds the lock.
func (m *mirror) version(at mirrorKey) version {
	all := at
	all.Name = ""
	return version{m.writes[at], m.additions[all]}
}

// keyOf returns the key of an object, and whether its kind is mirrored.
func (m *mirror) keyOf(object runtime.Object, key types.NamespacedName) (mirrorKey, bool) {
	switch object.(type) {
	case *v1alpha1.CatalogSelection, *v1alpha1.CatalogSelectionList, *kustomizev1.Kustomization, *kustomizev1.KustomizationList,
		*sourcev1.ExternalArtifact, *sourcev1.OCIRepository, *sourcev1.GitRepository, *sourcev1.Bucket:
	default:
		return mirrorKey{}, false
	}
	gvk, err := apiutil.GVKForObject(object, m.Scheme())
	if err != nil {
		return mirrorKey{}, false
	}
	gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
	resource, _ := apimeta.UnsafeGuessKindToResource(gvk)
	return mirrorKey{resource.GroupResource(), key}, true
}

// Get implements client.Reader.
func (m *mirror) Get(ctx context.Context, key client.ObjectKey, object client.Object, opts ...client.GetOption) error {
	at, mirrored := m.keyOf(object, key)
	if len(opts) > 0 || !mirrored || ctx.Err() != nil {
		return m.WithWatch.Get(ctx, key, object, opts...)
	}
	last, err := m.answer(ctx, at, object)
	if err == nil {
		reflect.ValueOf(object).Elem().Set(reflect.ValueOf(last.DeepCopyObject()).Elem())
	}
	return err
}

// answer returns the last answer for an object of the type of empty, or a new one. The caller does not modify it.
func (m *mirror) answer(ctx context.Context, at mirrorKey, empty client.Object) (client.Object, error) {
	m.mu.Lock()
	last, known := m.objects[at]
	now := m.version(at)
	m.mu.Unlock()
	if known && last.version == now {
		return last.object, last.err
	}
	object := reflect.New(reflect.TypeOf(empty).Elem()).Interface().(client.Object)
	err := m.WithWatch.Get(ctx, at.NamespacedName, object)
	if client.IgnoreNotFound(err) == nil {
		m.mu.Lock()
		m.objects[at] = lastAnswer{now, object, err}
		m.mu.Unlock()
	}
	return object, err
}

// List implements client.Reader.
func (m *mirror) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	options := (&client.ListOptions{}).ApplyOptions(opts)
	at, mirrored := m.keyOf(list, types.NamespacedName{Namespace: options.Namespace})
	plain := client.ListOptions{Namespace: options.Namespace, Limit: options.Limit, UnsafeDisableDeepCopy: options.UnsafeDisableDeepCopy}
	if !mirrored || ctx.Err() != nil || !reflect.DeepEqual(*options, plain) {
		return m.WithWatch.List(ctx, list, opts...)
	}
	m.mu.Lock()
	members, known := m.lists[at]
	additions, total := m.additions[at], m.total
	m.mu.Unlock()
	if known && members.additions == additions && (options.Limit == 0 || int64(len(members.names)) < options.Limit) {
		return m.members(ctx, list, at.GroupResource, members.names, options.UnsafeDisableDeepCopy != nil)
	}
	if err := m.WithWatch.List(ctx, list, opts...); err != nil || list.GetContinue() != "" {
		return err
	}
	return m.keepList(list, at, total)
}

// members sets the items of a list to the objects with these names that exist.
func (m *mirror) members(ctx context.Context, list client.ObjectList, of schema.GroupResource, names []types.NamespacedName, shared bool) error {
	field, _ := reflect.TypeOf(list).Elem().FieldByName("Items")
	empty := reflect.New(field.Type.Elem()).Interface().(client.Object)
	items := []runtime.Object{}
	for _, name := range names {
		object, err := m.answer(ctx, mirrorKey{of, name}, empty)
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

// keepList keeps the items of a list that was read after a total of writes.
func (m *mirror) keepList(list client.ObjectList, at mirrorKey, total int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.total != total {
		return nil
	}
	last := lastMembers{additions: m.additions[at]}
	err := apimeta.EachListItem(list, func(item runtime.Object) error {
		object := item.DeepCopyObject().(client.Object)
		one := mirrorKey{at.GroupResource, client.ObjectKeyFromObject(object)}
		last.names = append(last.names, one.NamespacedName)
		m.objects[one] = lastAnswer{m.version(one), object, nil}
		return nil
	})
	m.lists[at] = last
	return err
}

// write sends a write, and keeps the object as the API server returned it.
func (m *mirror) write(object client.Object, send func() error) error {
	m.mu.Lock()
	total := m.total
	m.mu.Unlock()
	if err := send(); err != nil {
		return err
	}
	at, mirrored := m.keyOf(object, client.ObjectKeyFromObject(object))
	m.mu.Lock()
	defer m.mu.Unlock()
	if mirrored && m.total == total+1 && object.GetDeletionTimestamp().IsZero() { // not of a dry run, and none of another goroutine
		m.objects[at] = lastAnswer{m.version(at), object.DeepCopyObject().(client.Object), nil}
	}
	return nil
}

// Create implements client.Writer.
func (m *mirror) Create(ctx context.Context, object client.Object, opts ...client.CreateOption) error {
	return m.write(object, func() error { return m.WithWatch.Create(ctx, object, opts...) })
}

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
	sender := m.WithWatch.SubResource(name)
	if name != "status" {
		return sender
	}
	return mirroredStatus{sender, m}
}

type mirroredStatus struct {
	client.SubResourceClient
	mirror *mirror
}

// Update implements client.SubResourceWriter.
func (s mirroredStatus) Update(ctx context.Context, object client.Object, opts ...client.SubResourceUpdateOption) error {
	return s.mirror.write(object, func() error { return s.SubResourceClient.Update(ctx, object, opts...) })
}

// Patch implements client.SubResourceWriter.
func (s mirroredStatus) Patch(ctx context.Context, object client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
	return s.mirror.write(object, func() error { return s.SubResourceClient.Patch(ctx, object, patch, opts...) })
}

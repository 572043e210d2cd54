// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// recorder records events as "<Type> <Reason> <kind> <name>", and the last message.
type recorder struct {
	mu      sync.Mutex
	events  []string
	message string
	notes   map[string]string
	// full has the events with their messages.
	full []string
}

// take returns the events since the last call.
func (r *recorder) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.events
	r.events = nil
	return taken
}

// Event implements record.EventRecorder.
func (r *recorder) Event(object runtime.Object, eventType, reason, message string) {
	r.AnnotatedEventf(object, nil, eventType, reason, "%s", message)
}

// Eventf implements record.EventRecorder.
func (r *recorder) Eventf(object runtime.Object, eventType, reason, format string, args ...any) {
	r.AnnotatedEventf(object, nil, eventType, reason, format, args...)
}

// AnnotatedEventf implements record.EventRecorder.
func (r *recorder) AnnotatedEventf(object runtime.Object, annotations map[string]string, eventType, reason, format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, fmt.Sprintf("%s %s %s", eventType, reason, kindOf(object)))
	r.message, r.notes = fmt.Sprintf(format, args...), annotations
	r.full = append(r.full, fmt.Sprint(reason, ": ", r.message, " ", annotations))
}

func kindOf(object runtime.Object) string {
	return reflect.TypeOf(object).Elem().Name()
}

// traffic intercepts the reads and writes of a reconciler.
type traffic struct {
	mu sync.Mutex
	// writes are the successful ones, as "<verb> <kind>[/<subresource>]".
	writes []string
	// revisions are all revisions of an ExternalArtifact, in order.
	revisions []string
	// bodies are the written objects, as JSON.
	bodies []string
	// before runs before a write, and prevents it by an error.
	before func(write string, object client.Object) error
	read   atomic.Pointer[readFunc]
}

// readFunc replaces the reads for which it returns true.
type readFunc func(key client.ObjectKey, object client.Object) (bool, error)

// replaceReads replaces reads by a function, nil for none. Informers may read meanwhile.
func (t *traffic) replaceReads(read readFunc) { t.read.Store(&read) }

// taken returns the writes since the last call.
func (t *traffic) taken() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	taken := t.writes
	t.writes = nil
	return taken
}

func (t *traffic) write(name string, object client.Object, do func() error) error {
	if t.before != nil {
		if err := t.before(name, object); err != nil {
			return err
		}
	}
	if err := do(); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.writes = append(t.writes, name)
	if body, err := json.Marshal(object); err == nil {
		t.bodies = append(t.bodies, string(body))
	}
	if artifact, ok := object.(*sourcev1.ExternalArtifact); ok && artifact.Status.Artifact != nil {
		t.revisions = slices.Compact(append(t.revisions, artifact.Status.Artifact.Revision))
	}
	return nil
}

// through returns a client that sends the traffic by another one.
func (t *traffic) through(sender client.WithWatch) client.Client {
	return interceptor.NewClient(sender, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, opts ...client.GetOption) error {
			if read := t.read.Load(); read != nil && *read != nil {
				if done, err := (*read)(key, object); done {
					return err
				}
			}
			return c.Get(ctx, key, object, opts...)
		},
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, opts ...client.CreateOption) error {
			return t.write("create "+kindOf(object), object, func() error { return c.Create(ctx, object, opts...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, opts ...client.DeleteOption) error {
			return t.write("delete "+kindOf(object), object, func() error { return c.Delete(ctx, object, opts...) })
		},
		Update: func(ctx context.Context, c client.WithWatch, object client.Object, opts ...client.UpdateOption) error {
			return t.write("update "+kindOf(object), object, func() error { return c.Update(ctx, object, opts...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, opts ...client.PatchOption) error {
			return t.write("patch "+kindOf(object), object, func() error { return c.Patch(ctx, object, patch, opts...) })
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, object client.Object, opts ...client.SubResourceUpdateOption) error {
			return t.write("update "+kindOf(object)+"/"+sub, object, func() error { return c.SubResource(sub).Update(ctx, object, opts...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, object client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
			return t.write("patch "+kindOf(object)+"/"+sub, object, func() error { return c.SubResource(sub).Patch(ctx, object, patch, opts...) })
		},
	})
}

// logLines collects the lines of several goroutines.
type logLines struct {
	mu    sync.Mutex
	lines []string
}

func (l *logLines) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
}

// everythingWritten returns all logs, events and writes to the API server of the reconciler.
func (e *environment) everythingWritten() string {
	return strings.Join(slices.Concat(e.log.lines, e.events.full, e.traffic.bodies), "\n")
}

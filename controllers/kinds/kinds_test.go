// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	"context"
	"errors"
	"testing"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// absent is an API server that serves no kind, and counts the requests.
type absent struct {
	client.Reader

	probes int
}

func (a *absent) List(context.Context, client.ObjectList, ...client.ListOption) error {
	a.probes++
	return &apimeta.NoKindMatchError{}
}

var (
	one = types.NamespacedName{Namespace: "a", Name: "one"}
	two = types.NamespacedName{Namespace: "a", Name: "two"}
)

func kindOf(group string) Kind {
	return Kind{GVK: schema.GroupVersionKind{Group: group, Version: "v1", Kind: "ApplicationDefinition"}}
}

func TestTheBackoffOfAKindThatCannotBeWatched(t *testing.T) {
	server := &absent{}
	k := New(t.Context(), nil, cache.Options{}, server)
	if _, err := k.Look(t.Context(), kindOf("a.example"), one, false); !errors.Is(err, ErrAbsent) {
		t.Fatalf("Look() = %v", err)
	}
	server.probes = 0
	var tried []time.Duration
	start := time.Unix(0, 0)
	for after := retryInterval; after <= time.Hour; after += retryInterval {
		before := server.probes
		now := start.Add(after)
		k.retry(t.Context(), func(w *watch) bool { return w.isDue(now) })
		if server.probes > before {
			tried = append(tried, after)
		}
	}
	want := []time.Duration{15, 30, 60, 120, 240, 480, 960, 1560, 2160, 2760, 3360}
	if len(tried) != len(want) {
		t.Fatalf("tried after %v", tried)
	}
	for i := range want {
		if tried[i] != want[i]*time.Second {
			t.Errorf("tried after %s, want %s", tried[i], want[i]*time.Second)
		}
	}
}

func TestAWatchEndsWithItsLastAsker(t *testing.T) {
	server := &absent{}
	k := New(t.Context(), nil, cache.Options{}, server)
	first, second := kindOf("a.example"), kindOf("b.example")
	look := func(kind Kind, subscriber types.NamespacedName) {
		t.Helper()
		if _, err := k.Look(t.Context(), kind, subscriber, false); !errors.Is(err, ErrAbsent) {
			t.Fatalf("Look() = %v", err)
		}
	}
	watches := func(what string, want int) {
		t.Helper()
		if got := len(k.all()); got != want {
			t.Errorf("%s, there are %d watches, want %d", what, got, want)
		}
	}
	look(first, one)
	look(second, one)
	look(first, two)
	watches("with two subscribers", 2)
	k.Keep(one, second.GVK)
	watches("with one subscriber left", 2)
	k.Keep(two)
	watches("without subscribers of the first kind", 1)
	if kinds := k.Subscriptions(one); len(kinds) != 1 || kinds[0] != second.GVK {
		t.Errorf("Subscriptions() = %v", kinds)
	}
	k.Forget(one)
	watches("without subscribers", 0)
	server.probes = 0
	k.Retry(t.Context())
	if server.probes > 0 {
		t.Errorf("%d kinds without subscribers are tried", server.probes)
	}
	look(first, one)
	watches("with a subscriber again", 1)
}

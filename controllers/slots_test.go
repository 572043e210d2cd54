// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/winnow-dev/winnow/controllers/source"
)

func requestOf(key types.NamespacedName) ctrl.Request { return ctrl.Request{NamespacedName: key} }

// Each word is a step: +NAME takes a slot, ?NAME is refused one, and -NAME ends a reconciliation, in namespace a or b by
// the first letter of the name.
func TestSlots(t *testing.T) {
	for _, test := range []struct {
		name, steps, enqueued string
	}{
		{"a namespace has two slots", "+a1 +a2 ?a3 +b1 +b2 ?b3", ""},
		{"a reconciliation that has its slot keeps it", "+a1 +a2 ?a3 +a1", ""},
		{"the oldest gets a slot", "+a1 +a2 ?a3 -a3 ?a4 -a4 -a2 ?a4 -a4 +a3", "a3"},
		{"those that were enqueued have their slots", "+a1 +a2 ?a3 -a3 ?a4 -a4 -a1 -a2 ?a5 +a4 +a3", "a3 a4"},
		{"an event does not end the wait", "+a1 +a2 ?a3 -a3 ?a4 -a4 ?a3 -a3 -a1 +a3", "a3"},
		{"a slot during the reconciliation that was refused", "+a1 +a2 ?a3 -a1 -a3 +a3 -a3 +a4 ?a5", "a3"},
		{"who takes no slot leaves the line", "+a1 +a2 ?a3 -a3 ?a4 -a4 -a3 -a1 +a4", "a4"},
		{"who needs its slot no more gives it to the next", "+a1 +a2 ?a3 -a3 ?a4 -a4 -a1 -a3 +a4", "a3 a4"},
		{"another namespace is not enqueued", "+a1 +a2 ?a3 -a3 +b1 -b1", ""},
		{"a reconciliation without a slot", "-a1 +a2 -a1", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var enqueued []string
			s := slots{limit: 2, now: time.Now, enqueue: func(_ context.Context, keys ...types.NamespacedName) {
				for _, key := range keys {
					enqueued = append(enqueued, key.Name)
				}
			}}
			var names []string
			for _, step := range strings.Fields(test.steps) {
				key := types.NamespacedName{Namespace: step[1:2], Name: step[1:]}
				names = append(names, key.Name)
				if step[0] == '-' {
					s.leave(t.Context(), key)
				} else if err := s.take(key); isWaiting(err) != (step[0] == '?') {
					t.Errorf("%s: take() = %v", step, err)
				}
			}
			if want := strings.Fields(test.enqueued); !slices.Equal(enqueued, want) {
				t.Errorf("%v were enqueued, want %v", enqueued, want)
			}
			for range 2 { // the first may end a refused reconciliation
				for _, name := range names {
					s.leave(t.Context(), types.NamespacedName{Namespace: name[:1], Name: name})
				}
			}
			if len(s.lines) > 0 {
				t.Errorf("%v are left", s.lines)
			}
		})
	}
}

func TestAWaitForASlotKeepsTheBackoff(t *testing.T) {
	s := slots{limit: 1, now: time.Now}
	limiter := loadLimiter{workqueue.NewTypedItemExponentialFailureRateLimiter[ctrl.Request](time.Second, time.Hour), &source.Loader{}, &s}
	first, second := types.NamespacedName{Namespace: "ns", Name: "first"}, types.NamespacedName{Namespace: "ns", Name: "second"}
	limiter.When(requestOf(second))
	if err := s.take(first); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		name string
		run  func()
		want int
	}{
		{"it waits", func() { _ = s.take(second); s.leave(t.Context(), second) }, 1},
		{"it succeeds", func() { s.leave(t.Context(), second) }, 0},
	} {
		step.run()
		limiter.Forget(requestOf(second))
		if n := limiter.NumRequeues(requestOf(second)); n != step.want {
			t.Errorf("%s: %d failures are remembered, want %d", step.name, n, step.want)
		}
	}
}

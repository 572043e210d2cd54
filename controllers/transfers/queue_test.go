// SPDX-License-Identifier: Apache-2.0

package transfers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/winnow-dev/winnow/controllers/metrics"
)

// started runs a test with a Queue that was started. The test of goroutines that are left is that of synctest.
func started(t *testing.T, limits Limits, do func(*testing.T, *Queue)) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		q, ended := New(limits), make(chan error)
		go func() { ended <- q.Start(ctx) }()
		synctest.Wait()
		do(t, q)
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Start() = %v", err)
		}
	})
}

// One namespace has 1,000 transfers that hang. The transfer of another one runs at once.
func TestANamespaceThatHangsDelaysNoOther(t *testing.T) {
	started(t, DefaultLimits(), func(t *testing.T, q *Queue) {
		var running atomic.Int32
		for range 1000 {
			q.Add("tenant", func(ctx context.Context) {
				running.Add(1)
				<-ctx.Done()
			})
		}
		begin, done := time.Now(), make(chan struct{})
		q.Add("platform", func(context.Context) { close(done) })
		<-done
		if took := time.Since(begin); took > 0 {
			t.Errorf("the platform waited for %s", took)
		}
		synctest.Wait()
		if n := running.Load(); n != 2 {
			t.Errorf("%d transfers of the tenant run, want 2", n)
		}
	})
}

func TestNamespacesTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Limits{Namespace: 2, Total: 2})
		var order []string
		for _, name := range strings.Fields("a1 a2 a3 a4 b1 b2 c1") {
			q.Add(name[:1], func(context.Context) { order = append(order, name) })
		}
		for q.RunNext(t.Context()) {
		}
		if want := strings.Fields("a1 b1 c1 a2 b2 a3 a4"); !slices.Equal(order, want) {
			t.Errorf("order is %v, want %v", order, want)
		}
	})
}

func TestTransfersHaveATotal(t *testing.T) {
	started(t, Limits{Namespace: 2, Total: 5}, func(t *testing.T, q *Queue) {
		var mu sync.Mutex
		running, most := 0, 0
		count := func(n int) {
			mu.Lock()
			defer mu.Unlock()
			running += n
			most = max(most, running)
		}
		for i := range 40 {
			q.Add(fmt.Sprintf("ns-%d", i%10), func(context.Context) {
				count(1)
				time.Sleep(time.Second)
				count(-1)
			})
			synctest.Wait()
		}
		time.Sleep(10 * time.Second)
		count(0)
		if most != 5 || running != 0 {
			t.Errorf("%d ran at a time, %d run, want 5 and 0", most, running)
		}
	})
}

// A result takes memory until it is taken: its transfer keeps the slot.
func TestAHeldTransferKeepsItsSlotUntilItIsClosed(t *testing.T) {
	started(t, Limits{Namespace: 1, Total: 5}, func(t *testing.T, q *Queue) {
		ran := 0
		count := func(context.Context) { ran++ }
		first, second := q.Hold("ns", count), q.Hold("ns", count)
		synctest.Wait()
		if ran != 1 || second.Waits("downloads") != "waits for one of 1 downloads at a time in namespace ns" {
			t.Errorf("%d ran, the second %q", ran, second.Waits("downloads"))
		}
		first.Close()
		first.Close()
		synctest.Wait()
		if ran != 2 || second.Waits("downloads") != "" {
			t.Errorf("%d ran, the second %q", ran, second.Waits("downloads"))
		}
		second.Close()
		if q.total != 0 || len(q.taken) != 0 {
			t.Errorf("%d slots are taken, by namespace %v", q.total, q.taken)
		}
	})
}

func TestAClosedTransferEnds(t *testing.T) {
	started(t, Limits{Namespace: 1, Total: 5}, func(t *testing.T, q *Queue) {
		var ended []string
		transfer := func(name string) *Transfer {
			return q.Hold("ns", func(ctx context.Context) {
				<-ctx.Done()
				ended = append(ended, name)
			})
		}
		first, second, third := transfer("first"), transfer("second"), transfer("third")
		second.Close() // it waits, and never runs
		first.Close()
		synctest.Wait()
		third.Close()
		synctest.Wait()
		if want := []string{"first", "third"}; !slices.Equal(ended, want) {
			t.Errorf("%v ended, want %v", ended, want)
		}
		if q.total != 0 || len(q.waiting) != 0 || len(q.turns) != 0 {
			t.Errorf("%d slots are taken, %v wait, turns are %v", q.total, q.waiting, q.turns)
		}
	})
}

func TestAPanicFreesTheSlot(t *testing.T) {
	started(t, Limits{Namespace: 1, Total: 1}, func(_ *testing.T, q *Queue) {
		q.Add("ns", func(context.Context) { panic("a library") })
		done := make(chan struct{})
		q.Add("ns", func(context.Context) { close(done) })
		<-done
	})
}

func TestTransfersThatWaitAreMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := prometheus.NewRegistry()
		measured, err := metrics.New(registry, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		q := New(Limits{Namespace: 1, Total: 1})
		q.Metrics = measured.Downloads
		for range 2 {
			q.Add("ns", func(context.Context) {})
		}
		closed := q.Add("ns", func(context.Context) {})
		for _, step := range []struct {
			name string
			run  func()
			want string
		}{
			{"three wait", func() {}, "3 0 0"},
			{"one runs", func() { q.RunNext(t.Context()) }, "2 1 120"},
			{"one is closed", closed.Close, "1 1 120"},
			{"all have run", func() { q.RunNext(t.Context()) }, "0 2 360"},
		} {
			time.Sleep(time.Minute)
			step.run()
			families, err := registry.Gather()
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, family := range families {
				metric := family.GetMetric()[0] // of downloads
				switch family.GetName() {
				case "winnow_queue_depth":
					got = fmt.Sprint(metric.GetGauge().GetValue(), " ")
				case "winnow_queue_wait_seconds":
					got += fmt.Sprint(metric.GetHistogram().GetSampleCount(), " ", metric.GetHistogram().GetSampleSum())
				}
			}
			if got != step.want {
				t.Errorf("%s: depth, count and seconds are %s, want %s", step.name, got, step.want)
			}
		}
	})
}

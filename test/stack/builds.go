package stack

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	// buildsAtOnce is the number of modules that are built side by side: a link uses one core.
	buildsAtOnce = 2
	// reportInterval is the interval at which a build reports how long it has taken.
	reportInterval = 30 * time.Second
)

// binaries returns the paths of the servers' binaries by name. It builds those that are missing, the modules that take
// longest first.
func (b *builder) binaries(ctx context.Context, wanted []server) (map[string]string, error) {
	paths := map[string]string{}
	modules := map[string][]server{}
	var missing []server
	for _, srv := range wanted {
		path, err := b.find(ctx, srv)
		if err != nil {
			return nil, err
		}
		if path == "" {
			missing = append(missing, srv)
			modules[srv.module] = append(modules[srv.module], srv)
		}
		paths[srv.name] = path
	}
	b.announce(missing)
	ordered := slices.SortedFunc(maps.Values(modules), func(x, y []server) int {
		return cmp.Or(cmp.Compare(minutes(y), minutes(x)), cmp.Compare(x[0].name, y[0].name))
	})
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(buildsAtOnce)
	var mu sync.Mutex
	for _, servers := range ordered {
		group.Go(func() error {
			for _, srv := range servers { // two builds of a module would wait for each other
				path, err := b.binary(ctx, srv)
				if err != nil {
					return err
				}
				mu.Lock()
				paths[srv.name] = path
				mu.Unlock()
			}
			return nil
		})
	}
	return paths, group.Wait()
}

func (b *builder) announce(missing []server) {
	if len(missing) < 2 {
		return
	}
	var names []string
	for _, srv := range missing {
		names = append(names, srv.name)
	}
	b.progress.step("%d servers are missing: about %d min on 2 cores, only once", len(missing), minutes(missing))
	b.progress.note("%s", strings.Join(names, ", "))
}

func minutes(servers []server) (sum int) {
	for _, srv := range servers {
		sum += srv.minutes
	}
	return sum
}

// report calls note with the elapsed time at an interval until the returned function is called.
func report(interval time.Duration, note func(elapsed time.Duration)) (stop func()) {
	started, ticker, done := time.Now(), time.NewTicker(interval), make(chan struct{})
	go func() {
		for {
			select {
			case <-ticker.C:
				note(time.Since(started))
			case <-done:
				return
			}
		}
	}()
	return func() {
		ticker.Stop()
		close(done)
	}
}

// progressOf returns the line that says how far a build is.
func progressOf(srv server, elapsed time.Duration) string {
	return fmt.Sprintf("%s: %s of about %d min alone", srv.name, elapsed.Round(time.Second), srv.minutes)
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// phase is what was measured of a change, or of a time without one.
type phase struct {
	name           string
	before, after  usage
	memory         memory
	publish, apply []time.Duration
}

// quiet is how long the controllers have to send no request that writes before a phase ends.
const quiet = 5 * time.Second

// phase makes a change, and measures until all selections and Kustomizations have it, and the controllers have no more to
// write.
func (s *system) phase(ctx context.Context, name string, change func(context.Context) error) (phase, error) {
	p := phase{name: name}
	progress("%s of %d selections", name, s.selections)
	_, err := s.memory()
	if err != nil {
		return p, err
	}
	if p.before, err = s.used(ctx); err != nil {
		return p, err
	}
	file := strings.ReplaceAll(name, " ", "-")
	endSample := s.sample(ctx, file)
	if err := change(ctx); err != nil {
		return p, fmt.Errorf("%s: %w", name, err)
	}
	if err := s.awaitAll(ctx); err != nil {
		return p, fmt.Errorf("%s: %w", name, err)
	}
	if p.after, err = s.settled(ctx); err != nil {
		return p, fmt.Errorf("%s: %w", name, err)
	}
	p.publish, p.apply = s.seen.delays()
	if p.memory, err = s.memory(); err != nil {
		return p, err
	}
	return p, errors.Join(endSample(), s.saveProfile(ctx, file))
}

// awaitAll waits until all selections have published the catalog, and all Kustomizations have applied it.
func (s *system) awaitAll(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	for reported := time.Now(); ; {
		published, applied := s.seen.counts()
		if published == s.selections && applied == s.consumers {
			return nil
		}
		if time.Since(reported) > 10*time.Second {
			reported = time.Now()
			progress("  %d published, %d applied", published, applied)
		}
		if err := sleep(ctx, 50*time.Millisecond); err != nil {
			return fmt.Errorf("%d of %d selections published and %d of %d applied: %w", published, s.selections, applied, s.consumers, err)
		}
	}
}

// settled returns the usage once the controllers have written nothing for a while.
func (s *system) settled(ctx context.Context) (usage, error) {
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	last, err := s.used(ctx)
	for err == nil {
		if err = sleep(ctx, quiet); err != nil {
			return last, fmt.Errorf("waiting until the controllers write nothing: %w", err)
		}
		var now usage
		if now, err = s.used(ctx); err == nil && now.writes == last.writes && now.reconciles == last.reconciles {
			return last, nil
		}
		last = now
	}
	return last, err
}

// idle measures a time without a change.
func (s *system) idle(ctx context.Context) (phase, error) {
	p := phase{name: "idle"}
	progress("idle for %s", s.plan.idle)
	var err error
	if p.before, err = s.used(ctx); err != nil {
		return p, err
	}
	if err := sleep(ctx, s.plan.idle); err != nil {
		return p, err
	}
	if p.after, err = s.used(ctx); err != nil {
		return p, err
	}
	if p.memory, err = s.memory(); err != nil {
		return p, err
	}
	return p, s.saveProfile(ctx, "idle")
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, "==> "+format+"\n", args...) }

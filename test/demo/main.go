// Command demo shows the main job on the local real system: a catalog goes to a registry, Flux
// pulls it, Winnow selects from it, Flux applies the selection; then one upgrade that changes a
// single application, and one that a safeguard holds.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/stack"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	started := time.Now()
	s, err := stack.Start(ctx, stack.Options{
		Progress: os.Stdout,
		Registry: true, SourceController: true, KustomizeController: true,
		CRDs: []string{"test/stack/crds"},
	})
	if err != nil {
		return err
	}
	err = show(ctx, s)
	say("stopping the servers and removing their data")
	err = errors.Join(err, s.Stop())
	if err == nil {
		fmt.Printf("    done after %s\n", time.Since(started).Round(time.Second))
	}
	return err
}

// show runs the steps of the demo in order.
func show(ctx context.Context, s *stack.Stack) error {
	if err := v1alpha1.AddToScheme(s.Client().Scheme()); err != nil {
		return err
	}
	root, err := stack.Root(ctx)
	if err != nil {
		return err
	}
	d := &demo{Stack: s, root: root}
	for _, step := range []func(context.Context) error{
		d.install, d.publish, d.apply, d.upgrade, d.hold,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func say(format string, args ...any) {
	fmt.Printf("==> "+format+"\n", args...)
}

func note(format string, args ...any) {
	fmt.Printf("    "+format+"\n", args...)
}

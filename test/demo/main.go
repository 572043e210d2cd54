// Command demo shows the main use on the local real system: it pushes a catalog to a registry, Flux
// pulls it, Winnow selects from it, Flux applies the selection; then one upgrade that changes a
// single application, and one that a safeguard holds until it is approved.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/stack"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// run runs the demo and describes its steps on out.
func run(ctx context.Context, out io.Writer) error {
	started := time.Now()
	s, err := stack.Start(ctx, stack.Options{
		Progress: out,
		Registry: true, SourceController: true, KustomizeController: true,
		CRDs: []string{"test/stack/crds"},
	})
	if err != nil {
		return err
	}
	d := &demo{Stack: s, out: out}
	err = d.show(ctx)
	d.say("stopping the servers and removing their data")
	err = errors.Join(err, s.Stop())
	if err == nil {
		d.note("done after %s", time.Since(started).Round(time.Second))
	}
	return err
}

// demo is the system and the state that the steps share.
type demo struct {
	*stack.Stack
	out  io.Writer
	root string // directory of the repository
}

// show runs the steps of the demo in order.
func (d *demo) show(ctx context.Context) (err error) {
	if err := v1alpha1.AddToScheme(d.Client().Scheme()); err != nil {
		return err
	}
	if d.root, err = stack.Root(ctx); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{
		d.install, d.publish, d.apply, d.upgrade, d.hold, d.approve,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (d *demo) say(what string) {
	fmt.Fprintln(d.out, "==> "+what)
}

func (d *demo) note(format string, args ...any) {
	fmt.Fprintf(d.out, "    "+format+"\n", args...)
}

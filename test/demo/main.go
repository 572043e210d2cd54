// SPDX-License-Identifier: Apache-2.0

// Command demo shows the main use on the local real system: it pushes a catalog to a registry, Flux
// pulls it, Winnow selects from it, Flux applies the selection; then one upgrade that changes a
// single application, and one that a safeguard holds until it is approved.
//
// With the argument plain it shows the same without a platform: Flux's helm-controller installs the
// instances of the selection.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/stack"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := choose(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// choose runs the demo that the arguments name.
func choose(ctx context.Context, args []string) error {
	switch {
	case len(args) == 0:
		return run(ctx, os.Stdout, platform())
	case slices.Equal(args, []string{"plain"}):
		return run(ctx, os.Stdout, plain())
	}
	return fmt.Errorf("unknown arguments %q: use none, or plain", args)
}

// show is a demo: the example that it publishes, and its steps.
type show struct {
	// catalog is the directory of the catalog, reference its place in the registry, and source the name of
	// the OCIRepository that pulls it from there.
	catalog, reference, source string
	// options of the system.
	options stack.Options
	steps   []func(*demo, context.Context) error
}

// platform shows definitions on a cluster with a platform that reads them.
func platform() show {
	return show{
		catalog: "examples/catalog", reference: "catalogs/winnow-example", source: "winnow-example",
		options: stack.Options{CRDs: []string{"test/stack/crds"}},
		steps: []func(*demo, context.Context) error{
			(*demo).install, (*demo).publish, (*demo).apply, (*demo).upgrade, (*demo).hold, (*demo).approve,
		},
	}
}

// run runs a demo and describes its steps on out.
func run(ctx context.Context, out io.Writer, of show) error {
	started := time.Now()
	options := of.options
	options.Progress = out
	options.Registry, options.SourceController, options.KustomizeController = true, true, true
	s, err := stack.Start(ctx, options)
	if err != nil {
		return err
	}
	d := &demo{Stack: s, show: of, out: out, added: map[string]string{}}
	err = d.play(ctx)
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
	show

	out  io.Writer
	root string // directory of the repository
	// added maps applications to versions that their catalog has got.
	added map[string]string
}

// play runs the steps of the demo in order.
func (d *demo) play(ctx context.Context) (err error) {
	if err := v1alpha1.AddToScheme(d.Client().Scheme()); err != nil {
		return err
	}
	if d.root, err = stack.Root(ctx); err != nil {
		return err
	}
	fmt.Fprintln(d.out, "# on the whole system")
	for _, step := range d.steps {
		if err := step(d, ctx); err != nil {
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

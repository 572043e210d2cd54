// SPDX-License-Identifier: Apache-2.0

// Command cluster measures the controller on the local real system: many selections of one catalog get one new revision,
// and are idle after that. It prints times, requests, downloads, memory and processor time as a table of Markdown. It must
// not know how the controller works: it reads the API server, and the metrics of the controller.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := measure(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

// plan is what is measured.
type plan struct {
	selections   int
	applications int
	// selected is the number of applications that each selection takes.
	selected int
	// consumers is the number of selections with a Kustomization. Each applies its artifact under a prefix of its own.
	consumers int
	shards    int
	idle      time.Duration
	patience  time.Duration
	// profile is the directory for profiles; empty for none.
	profile string
	// binary is that of another controller to measure; empty for that of this repository.
	binary string
}

func parse(args []string) (plan, error) {
	var p plan
	fs := flag.NewFlagSet("cluster", flag.ContinueOnError)
	fs.IntVar(&p.selections, "selections", 1000, "number of CatalogSelections")
	fs.IntVar(&p.applications, "applications", 1000, "number of applications in the catalog")
	fs.IntVar(&p.selected, "selected", 50, "number of applications that each selection takes")
	fs.IntVar(&p.consumers, "consumers", 20, "number of selections that a Kustomization applies")
	fs.IntVar(&p.shards, "shards", 1, "number of controllers, each with a part of the selections")
	fs.DurationVar(&p.idle, "idle", 10*time.Minute, "how long to measure without a change")
	fs.DurationVar(&p.patience, "patience", 15*time.Minute, "how long all selections may take to be published or applied")
	fs.StringVar(&p.binary, "binary", "", "another controller to measure, such as that of a release")
	fs.StringVar(&p.profile, "profile", "", "existing directory for profiles of the heap and of the processor")
	if err := fs.Parse(args); err != nil {
		return p, err
	}
	if p.selected < changedEvery || p.selected > p.applications || p.consumers < 0 || p.consumers > p.selections || p.shards < 1 ||
		fs.NArg() > 0 {
		return p, fmt.Errorf("want %d <= selected <= applications, 0 <= consumers <= selections, shards >= 1, and no arguments",
			changedEvery)
	}
	return p, nil
}

func measure(ctx context.Context, args []string) (err error) {
	p, err := parse(args)
	if err != nil {
		return err
	}
	log.SetLogger(logr.Discard()) // that of the watches
	s, err := start(ctx, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	report, err := s.run(ctx)
	if err != nil {
		return err
	}
	fmt.Print(report)
	return nil
}

// run publishes two revisions of the catalog, and then waits without a change.
func (s *system) run(ctx context.Context) (string, error) {
	first, err := s.phase(ctx, "first publication", s.create)
	if err != nil {
		return "", err
	}
	second, err := s.phase(ctx, "new revision", s.release)
	if err != nil {
		return "", err
	}
	idle, err := s.idle(ctx)
	if err != nil {
		return "", err
	}
	return s.report(first, second, idle), nil
}

// SPDX-License-Identifier: Apache-2.0

// Command release makes the parts of a release, and publishes those that are in a registry: `make release-dry-run`, and
// the workflow of a tag. It signs with a key or, without one, as the workflow that runs it. It must not build what a make
// target builds.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

type options struct {
	version   string // of the release, such as v0.1.0
	registry  string // host, and the path under which the images and the chart are
	bin       string // directory of what make builds
	key       string // of cosign; empty: keyless
	publicKey string
	platforms string // of the images, with commas
	single    bool   // one archive, for this machine
	plainHTTP bool
	commit    string
	created   time.Time
}

// step is a part of a release. Each reads what those before it wrote into the directory of the release.
type step struct {
	name string
	run  func(context.Context, *options) error
}

func steps() []step {
	return []step{{"notes", notes}, {"binaries", binaries}, {"oci", oci}, {"files", files}, {"verify", verify}}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "release: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	o, wanted, err := parse(args)
	if err != nil {
		return err
	}
	if err := o.readCommit(ctx); err != nil {
		return err
	}
	if slices.Equal(wanted, []string{"dry-run"}) {
		return dryRun(ctx, o)
	}
	return o.perform(ctx, wanted)
}

// perform runs the steps that are wanted, in their order.
func (o *options) perform(ctx context.Context, wanted []string) error {
	if err := os.MkdirAll(o.dir(), 0o755); err != nil {
		return err
	}
	for _, step := range steps() {
		if !slices.Contains(wanted, step.name) {
			continue
		}
		started := time.Now()
		if err := step.run(ctx, o); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		fmt.Fprintf(os.Stderr, "==> %s: %s\n", step.name, time.Since(started).Round(time.Second))
	}
	return nil
}

var (
	released = regexp.MustCompile(`^v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?$`)
	location = regexp.MustCompile(`^[a-z0-9.-]+(:\d+)?(/[a-z0-9._/-]+)?$`)
)

// parse reads the flags, which the Makefile sets from variables: errors name these.
func parse(args []string) (*options, []string, error) {
	o := &options{}
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.StringVar(&o.version, "version", "", "version of the release")
	flags.StringVar(&o.registry, "registry", "", "registry, and a path in it, for the images and the chart")
	flags.StringVar(&o.bin, "bin", "bin", "directory of what make builds, below the root of the repository")
	flags.StringVar(&o.key, "key", "", "private key of cosign, instead of signing keyless")
	flags.StringVar(&o.publicKey, "public-key", "", "the public key")
	flags.StringVar(&o.platforms, "platforms", "", "platforms of the images, with commas")
	flags.StringVar(&o.commit, "commit", "HEAD", "commit that the release is made of, which is checked out")
	flags.BoolVar(&o.single, "single", false, "one archive, for this machine")
	flags.BoolVar(&o.plainHTTP, "plain-http", false, "talk to the registry without TLS")
	if err := flags.Parse(args); err != nil {
		return nil, nil, err
	}
	wanted := flags.Args()
	if !released.MatchString(o.version) {
		return nil, nil, fmt.Errorf("RELEASE_VERSION %q is no version such as v0.1.0", o.version)
	}
	if !location.MatchString(o.registry) && slices.ContainsFunc(wanted, func(name string) bool { return name == "oci" || name == "verify" }) {
		return nil, nil, fmt.Errorf("RELEASE_REGISTRY %q is no registry such as ghcr.io/winnow-dev", o.registry)
	}
	if !filepath.IsLocal(o.bin) {
		return nil, nil, fmt.Errorf("BIN %q is not below the root of the repository, of which goreleaser packs files", o.bin)
	}
	if (o.key == "") != (o.publicKey == "") {
		return nil, nil, errors.New("COSIGN_KEY and COSIGN_PUBLIC_KEY belong together: set both, or none to sign keyless")
	}
	for _, name := range wanted {
		known := name == "dry-run" && len(wanted) == 1
		if !known && !slices.ContainsFunc(steps(), func(s step) bool { return s.name == name }) {
			return nil, nil, fmt.Errorf("there is no step %q", name)
		}
	}
	return o, wanted, nil
}

// number is the version as charts and archives have it.
func (o *options) number() string { return strings.TrimPrefix(o.version, "v") }

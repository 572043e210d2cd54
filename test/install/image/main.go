// SPDX-License-Identifier: Apache-2.0

// Command image builds the container image of winnow-controller, or of winnow, with ko: `make image`. It makes the base image that ko
// builds upon, and writes the result to an OCI layout or pushes it to a registry. It knows nothing of manifests.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"oras.land/oras-go/v2/registry"
)

// user runs the controller. It has a number, or kubelet could not tell that it is not root.
const user = "65532:65532"

// programs maps each program that an image can have to the variable with its version.
var programs = map[string]string{
	"winnow-controller": "main.version", "winnow": "github.com/winnow-dev/winnow/cmd/winnow/verbs/version.linked",
}

type options struct {
	ko        string // path of the binary
	program   string // one of programs
	base      string // reference of the base image; made here if empty
	repo      string // repository to push to; empty for an OCI layout
	tag       string // tag and version
	platforms []v1.Platform
	out       string // directory of the OCI layout
	sbom      string // file of the SPDX document; none if empty
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o, err := parse(os.Args[1:])
	if err == nil {
		err = run(ctx, o)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "image: %v\n", err)
		os.Exit(1)
	}
}

// parse reads the flags, which the Makefile sets from variables: errors name these.
func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("image", flag.ContinueOnError)
	flags.StringVar(&o.ko, "ko", "", "path of ko")
	flags.StringVar(&o.program, "program", "winnow-controller", "program in the image")
	flags.StringVar(&o.base, "base", "", "base image, instead of one with CA certificates alone")
	flags.StringVar(&o.repo, "repo", "", "repository to push to, instead of writing an OCI layout")
	flags.StringVar(&o.tag, "tag", "dev", "tag of the image, and version of the program")
	flags.StringVar(&o.out, "o", "", "directory of the OCI layout")
	flags.StringVar(&o.sbom, "sbom", "", "file for the SPDX document of what the image contains")
	platforms := flags.String("platforms", "linux/amd64", "platforms, with commas")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if programs[o.program] == "" {
		return o, fmt.Errorf("IMAGE_PROGRAM %q: want winnow-controller or winnow", o.program)
	}
	if _, err := o.reference(); err != nil {
		return o, fmt.Errorf("IMAGE_REPO %q, IMAGE_TAG %q: %w", o.repo, o.tag, err)
	}
	if o.base != "" {
		if _, err := name.ParseReference(o.base); err != nil {
			return o, fmt.Errorf("IMAGE_BASE %q: %w", o.base, err)
		}
	}
	for _, platform := range strings.Split(*platforms, ",") {
		p, err := v1.ParsePlatform(platform)
		if err != nil || p.OS == "" || p.Architecture == "" {
			return o, fmt.Errorf("IMAGE_PLATFORMS %q: %q is no platform such as linux/amd64", *platforms, platform)
		}
		o.platforms = append(o.platforms, *p)
	}
	return o, nil
}

// reference is the image that is pushed, or what its name ends with.
func (o *options) reference() (name.Tag, error) {
	if o.repo == "" {
		return name.NewTag(o.program + ":" + o.tag)
	}
	if _, err := registry.ParseReference(o.repo + ":" + o.tag); err != nil {
		return name.Tag{}, err
	}
	// Strict: without a registry it would be Docker Hub.
	return name.NewTag(o.repo+":"+o.tag, name.StrictValidation)
}

// run builds the image, and prints the reference with which it is found.
func run(ctx context.Context, o options) error {
	dir, err := os.MkdirTemp("", "winnow-image-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	image, err := build(ctx, o, dir)
	if err != nil {
		return err
	}
	digest, err := image.Digest()
	if err != nil {
		return err
	}
	if o.sbom != "" {
		if err := writeSBOM(image, o); err != nil {
			return fmt.Errorf("writing %s: %w", o.sbom, err)
		}
	}
	if o.repo != "" {
		if err := push(ctx, image, o); err != nil {
			return err
		}
		fmt.Printf("%s@%s\n", o.repo, digest)
		return nil
	}
	if err := writeLayout(image, o.out, o.tag); err != nil {
		return err
	}
	fmt.Printf("%s:%s@%s\n", o.out, o.tag, digest)
	return nil
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content/file"
	"oras.land/oras-go/v2/content/oci"
	"oras.land/oras-go/v2/registry/remote"
)

// orasMain replaces the command oras, by means of its library. It implements the commands of the
// guides: oras resolve REFERENCE, oras pull -o DIR REFERENCE, and oras copy [-r] [--from-oci-layout]
// [--to-oci-layout] FROM TO. All hosts are directories of the registry at REGISTRY, which has no TLS.
func orasMain() {
	if err := runORAS(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "oras:", err)
		os.Exit(1)
	}
}

func runORAS(args []string) error {
	if len(args) == 0 {
		return errors.New("which command?")
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	recursive := flags.Bool("r", false, "")
	fromLayout := flags.Bool("from-oci-layout", false, "")
	toLayout := flags.Bool("to-oci-layout", false, "")
	output := flags.String("o", ".", "")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	ctx := context.Background()
	source, from, err := orasTarget(flags.Arg(0), *fromLayout)
	if err != nil {
		return err
	}
	switch {
	case args[0] == "resolve" && flags.NArg() == 1:
		descriptor, err := source.Resolve(ctx, from)
		fmt.Println(descriptor.Digest)
		return err
	case args[0] == "pull" && flags.NArg() == 1:
		return orasPull(ctx, source, from, *output)
	case args[0] != "copy" || flags.NArg() != 2:
		return fmt.Errorf("not known here: %q", args)
	}
	target, to, err := orasTarget(flags.Arg(1), *toLayout)
	if err != nil {
		return err
	}
	if *recursive {
		_, err = oras.ExtendedCopy(ctx, source, from, target, to, oras.DefaultExtendedCopyOptions)
	} else {
		_, err = oras.Copy(ctx, source, from, target, to, oras.DefaultCopyOptions)
	}
	return err
}

// orasPull writes the layers to the files or directories of their titles.
func orasPull(ctx context.Context, source oras.GraphTarget, reference, dir string) error {
	store, err := file.New(dir)
	if err != nil {
		return err
	}
	_, err = oras.Copy(ctx, source, reference, store, "", oras.DefaultCopyOptions)
	return errors.Join(err, store.Close())
}

// orasTarget opens a repository or a directory, and returns the reference in it.
func orasTarget(name string, layout bool) (oras.GraphTarget, string, error) {
	if layout {
		at := strings.LastIndex(name, ":")
		if at < 0 {
			return nil, "", fmt.Errorf("%s has no tag", name)
		}
		store, err := oci.New(name[:at])
		return store, name[at+1:], err
	}
	repository, err := remote.NewRepository(os.Getenv("REGISTRY") + "/" + name)
	if err != nil {
		return nil, "", err
	}
	repository.PlainHTTP = true
	return repository, repository.Reference.Reference, nil
}

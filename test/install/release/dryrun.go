// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/winnow-dev/winnow/test/stack"
)

// dryRun makes a whole release with a registry that exists for the run, and a key that nothing keeps.
func dryRun(ctx context.Context, o *options) (err error) {
	if err := os.RemoveAll(o.dir()); err != nil {
		return err
	}
	s, err := stack.Start(ctx, stack.Options{Registry: true, Progress: os.Stderr})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Stop()) }()
	keys, err := os.MkdirTemp("", "winnow-key-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(keys)) }()
	if err := o.makeKey(ctx, keys); err != nil {
		return err
	}
	o.registry, o.plainHTTP = s.RegistryHost()+"/winnow-dev", true
	if err := o.perform(ctx, []string{"binaries", "oci", "files", "verify"}); err != nil {
		return err
	}
	return o.list()
}

// makeKey makes the key that signs the dry run.
func (o *options) makeKey(ctx context.Context, dir string) error {
	cosign, err := stack.Cosign(ctx, os.Stderr)
	if err != nil {
		return err
	}
	if err := os.Setenv("COSIGN_PASSWORD", ""); err != nil {
		return err
	}
	prefix := filepath.Join(dir, "dry-run")
	o.key, o.publicKey = prefix+".key", prefix+".pub"
	_, err = output(ctx, nil, cosign, "generate-key-pair", "--output-key-prefix", prefix)
	return err
}

// list prints the files of the release with their sizes.
func (o *options) list() error {
	entries, err := os.ReadDir(o.dir())
	if err != nil {
		return err
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			return err
		}
		fmt.Printf("%11d  %s\n", info.Size(), o.file(entry.Name()))
	}
	return nil
}

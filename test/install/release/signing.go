// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/winnow-dev/winnow/test/stack"
)

// What a keyless signature of the workflow of a tag names.
const (
	issuer   = "https://token.actions.githubusercontent.com"
	workflow = "https://github.com/winnow-dev/winnow/.github/workflows/release.yaml@refs/tags/"
)

// signReference signs an image or a chart and, if there is an SBOM, attests it.
func (o *options) signReference(ctx context.Context, reference, sbom string) error {
	if err := o.cosign(ctx, "sign", o.signer, reference); err != nil || sbom == "" {
		return err
	}
	return o.cosign(ctx, "attest", o.signer, "--type", "spdxjson", "--predicate", sbom, reference)
}

func (o *options) signChecksums(ctx context.Context) error {
	return o.cosign(ctx, "sign-blob", o.signer, "--bundle", o.file(bundleFile), o.file(checksumsFile))
}

func (o *options) verifyReference(ctx context.Context, reference string, attested bool) error {
	if err := o.cosign(ctx, "verify", o.verifier, reference); err != nil || !attested {
		return err
	}
	return o.cosign(ctx, "verify-attestation", o.verifier, "--type", "spdxjson", reference)
}

func (o *options) verifyChecksums(ctx context.Context) error {
	return o.cosign(ctx, "verify-blob", o.verifier, "--bundle", o.file(bundleFile), o.file(checksumsFile))
}

// cosign runs a verb of cosign with the flags that identify returns for a directory of temporary files.
func (o *options) cosign(ctx context.Context, verb string, identify func(ctx context.Context, cosign, dir string) ([]string, error), args ...string) error {
	cosign, err := stack.Cosign(ctx, os.Stderr)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "winnow-cosign-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	flags, err := identify(ctx, cosign, dir)
	if err != nil {
		return err
	}
	if o.plainHTTP && verb != "sign-blob" && verb != "verify-blob" {
		flags = append(flags, "--allow-http-registry")
	}
	_, err = output(ctx, nil, append(append([]string{cosign, verb}, flags...), args...)...)
	return err
}

// signer returns the flags that sign. With a key, cosign contacts the registry alone: the files name no services.
func (o *options) signer(ctx context.Context, cosign, dir string) ([]string, error) {
	if o.key == "" {
		return []string{"--yes"}, nil
	}
	config, root := filepath.Join(dir, "signing-config.json"), filepath.Join(dir, "trusted-root.json")
	if err := create(ctx, cosign, "signing-config", config); err != nil {
		return nil, err
	}
	return []string{"--yes", "--key", o.key, "--signing-config", config, "--trusted-root", root}, create(ctx, cosign, "trusted-root", root)
}

// verifier returns the flags that verify.
func (o *options) verifier(ctx context.Context, cosign, dir string) ([]string, error) {
	if o.key == "" {
		return []string{"--certificate-oidc-issuer", issuer, "--certificate-identity", workflow + o.version}, nil
	}
	root := filepath.Join(dir, "trusted-root.json")
	return []string{"--key", o.publicKey, "--insecure-ignore-tlog", "--trusted-root", root}, create(ctx, cosign, "trusted-root", root)
}

func create(ctx context.Context, cosign, kind, file string) error {
	_, err := output(ctx, nil, cosign, kind, "create", "--out", file)
	return err
}

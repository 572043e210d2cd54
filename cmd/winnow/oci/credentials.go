// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"

	"github.com/winnow-dev/winnow/registry/redact"
)

// Credentials are from Docker's configuration, which docker login writes.
type Credentials struct {
	file    string
	store   credentials.Store
	secrets redact.Secrets
}

// OpenCredentials reads Docker's configuration, from DOCKER_CONFIG or the home directory. A missing one has no credentials.
func OpenCredentials() (*Credentials, error) {
	directory := os.Getenv("DOCKER_CONFIG")
	if directory == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, fmt.Errorf("finding Docker's configuration: %w", err)
		}
		directory = filepath.Join(home, ".docker")
	}
	file := filepath.Join(directory, "config.json")
	store, err := credentials.NewStore(file, credentials.StoreOptions{})
	if err != nil {
		return nil, fmt.Errorf("reading Docker's configuration %s: %w", file, withoutContent(err, "it is not valid: docker login writes it"))
	}
	return &Credentials{file: file, store: store}, nil
}

// Of returns the credentials of a host with its port; empty for none. Plain leaves them out of errors.
func (c *Credentials) Of(ctx context.Context, host string) (auth.Credential, error) {
	found, err := credentials.Credential(c.store)(ctx, host)
	if err != nil {
		return found, fmt.Errorf("reading the credentials of %s in %s: %w", host, c.file,
			withoutContent(err, "the entry, or the helper that it names, is not valid: docker login "+host+" writes it anew"))
	}
	c.secrets.Add(found.Password, found.AccessToken, found.RefreshToken)
	return found, nil
}

// Plain returns an error of a request that was sent with credentials as redact.Secrets.Error does.
func (c *Credentials) Plain(err error) error { return c.secrets.Error(err, nil) }

// withoutContent returns the cause of the system, such as a missing file or program, or else a text: the messages of the library,
// and of helpers, quote passwords.
func withoutContent(err error, otherwise string) error {
	var file *fs.PathError
	var program *exec.Error
	switch {
	case errors.As(err, &file):
		return file
	case errors.As(err, &program):
		return program
	}
	return errors.New(otherwise)
}

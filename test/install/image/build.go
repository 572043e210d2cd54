// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// build runs ko in the current directory, the root of the repository, and returns the image that it leaves in dir.
func build(ctx context.Context, o options, dir string) (result, error) {
	base := o.base
	if base == "" {
		served, stop, err := serveBase(ctx, o.platforms)
		if err != nil {
			return nil, fmt.Errorf("making the base image: %w", err)
		}
		defer stop()
		base = served
	}
	path := filepath.Join(dir, "ko")
	if err := ko(ctx, o, base, path); err != nil {
		return nil, fmt.Errorf("building with ko: %w", err)
	}
	index, err := layout.ImageIndexFromPath(path)
	if err != nil {
		return nil, fmt.Errorf("reading what ko built: %w", err)
	}
	built, err := only(index)
	if err != nil || o.base != "" {
		return built, err
	}
	return forgetBase(built)
}

func ko(ctx context.Context, o options, base, path string) error {
	args := []string{
		"build", "--push=false", "--oci-layout-path=" + path, "--bare", "--sbom=none",
		"--image-user=" + user,
		"--image-label=org.opencontainers.image.source=https://github.com/winnow-dev/winnow",
		"--image-label=org.opencontainers.image.version=" + o.tag,
		"--ldflags=-s,-w,-X " + programs[o.program] + "=" + o.tag,
	}
	var platforms []string
	for _, platform := range o.platforms {
		platforms = append(platforms, platform.String())
	}
	cmd := exec.CommandContext(ctx, o.ko, append(args, "--platform="+strings.Join(platforms, ","), "./cmd/"+o.program)...)
	// ko writes the time in the zone of the machine.
	cmd.Env = append(withoutTarget(os.Environ()), "KO_DEFAULTBASEIMAGE="+base, "KO_DOCKER_REPO="+o.program, "TZ=UTC")
	cmd.Stderr = os.Stderr
	// Interrupted, ko stops its compilers.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	return cmd.Run()
}

// withoutTarget drops the variables that would choose another target than the platform that ko builds for: of two
// values it takes the one from the environment.
func withoutTarget(environment []string) []string {
	return slices.DeleteFunc(environment, func(variable string) bool {
		key, _, _ := strings.Cut(variable, "=")
		return slices.Contains([]string{"GOOS", "GOARCH", "GOAMD64", "GOARM", "GOARM64", "CGO_ENABLED"}, key)
	})
}

// serveBase serves the base image on loopback, because ko takes base images from registries only.
func serveBase(ctx context.Context, platforms []v1.Platform) (ref string, stop func(), err error) {
	index, err := newBase(platforms)
	if err != nil {
		return "", nil, err
	}
	digest, err := index.Digest()
	if err != nil {
		return "", nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: registry.New(registry.Logger(log.New(io.Discard, "", 0))), ReadHeaderTimeout: time.Minute}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener) // until it is closed; what fails before fails in ko
	}()
	stop = func() {
		_ = server.Close()
		<-done
	}
	base, err := name.NewDigest(fmt.Sprintf("%s/base@%s", listener.Addr(), digest))
	if err == nil {
		err = remote.WriteIndex(base, index, remote.WithContext(ctx))
	}
	if err != nil {
		stop()
		return "", nil, err
	}
	return base.String(), stop, nil
}

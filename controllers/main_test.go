// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"testing"

	"github.com/fluxcd/pkg/runtime/logger"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/canary"
	"github.com/winnow-dev/winnow/test/stack"
)

// apiServer is a client of the real API server that all tests of the package share. Each test has its own
// namespace.
var apiServer *mirror

// restConfig has all rights on the API server.
var restConfig *rest.Config

// system is the stack with the API server and the registries.
var system *stack.Stack

// registryHost is the HOST:PORT of a real registry with plain HTTP. secureRegistry requires TLS, and
// registryUser with registryPassword.
var (
	registryHost   string
	secureRegistry *stack.SecureRegistry
)

const (
	registryUser     = "robot"
	registryPassword = canary.Secret
)

func TestMain(m *testing.M) {
	code, err := runWithStack(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runWithStack(m *testing.M) (code int, err error) {
	debug.SetGCPercent(400) // memory is cheaper than CPU here
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	ctrl.SetLogger(logger.NewLogger(logger.Options{LogLevel: "error"}))
	s, err := stack.Start(ctx, stack.Options{
		Progress:    os.Stderr,
		Registry:    true,
		CRDs:        []string{"config/crd/bases", "test/stack/crds"},
		AddToScheme: []func(*runtime.Scheme) error{v1alpha1.AddToScheme},
		// A list from the cache waits up to 100 ms for the events of writes to other kinds.
		Args: map[string][]string{"kube-apiserver": {"--watch-cache=false"}},
	})
	if err != nil {
		return 1, err
	}
	defer func() {
		if stopErr := s.Stop(); err == nil {
			err = stopErr
		}
	}()
	system, restConfig, registryHost = s, s.RESTConfig(), s.RegistryHost()
	secureRegistry, err = s.StartSecureRegistry(ctx, "secure-registry", registryUser, registryPassword)
	if err != nil {
		return 1, err
	}
	apiServer, err = newMirror(restConfig, client.Options{Scheme: s.Client().Scheme()})
	if err != nil {
		return 1, fmt.Errorf("making the client: %w", err)
	}
	return m.Run(), nil
}

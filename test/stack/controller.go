// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// WinnowController is the name of Winnow's command and of its ServiceAccount.
const WinnowController = "winnow-controller"

// ControllerOptions configure StartController. The zero value works once the ServiceAccount and its
// roles are installed.
type ControllerOptions struct {
	// Name of the process and of its log; default "winnow-controller", with a number from the second start
	// on.
	Name string

	// Args are appended to the flags; of a flag given twice the last one counts. Env is appended to the
	// environment.
	Args []string
	Env  []string

	// BuildFlags are passed to `go build`, e.g. -race. Binary is the path of a controller that BuildController
	// of another stack has built, which is started instead.
	BuildFlags []string
	Binary     string

	// MayEnd leaves the stack running when the controller ends.
	MayEnd bool

	// DataDir holds the artifacts; default: a new directory, so that a restart starts empty.
	DataDir string

	// StorageAddr is the HOST:PORT that serves the artifacts; default: that of the first controller, as the
	// name of a Service does not change either. Set it to run two controllers at once.
	StorageAddr string

	// Kubeconfig of the controller; default: one with the token of the ServiceAccount Account in
	// Namespace.
	Kubeconfig string

	// Namespace is the runtime namespace; default WinnowNamespace. Account defaults to WinnowController.
	Namespace string
	Account   string
}

// Controller is a running Winnow.
type Controller struct {
	*Process

	DataDir     string // directory of the artifacts
	StorageAddr string // HOST:PORT that serves them
	MetricsAddr string // HOST:PORT of /metrics
	HealthAddr  string // HOST:PORT of /healthz and /readyz
}

// controllers is the state that the controllers of a stack share.
type controllers struct {
	mu          sync.Mutex
	started     int
	storageAddr string

	building sync.Mutex        // held for seconds, unlike mu
	built    map[string]string // paths of binaries by build flags
}

// StartController builds Winnow's controller from this repository, starts it and returns when it is ready.
func (s *Stack) StartController(ctx context.Context, options ControllerOptions) (*Controller, error) {
	options, err := s.complete(ctx, options)
	if err != nil {
		return nil, err
	}
	binary := options.Binary
	if binary == "" {
		if binary, err = s.BuildController(ctx, options.BuildFlags...); err != nil {
			return nil, err
		}
	}
	s.progress.step("starting %s", options.Name)
	controller := &Controller{DataDir: options.DataDir}
	c := command{name: options.Name, path: binary, dir: s.dir, mayEnd: options.MayEnd}
	retry := false
	controller.Process, err = s.launch(ctx, c, func() (launch, error) {
		if retry { // the port was lost
			s.shareStorageAddr("")
		}
		retry = true
		return s.configureController(controller, options)
	})
	if err != nil {
		return nil, err
	}
	return controller, nil
}

// complete sets the defaults.
func (s *Stack) complete(ctx context.Context, o ControllerOptions) (_ ControllerOptions, err error) {
	s.controllers.mu.Lock()
	s.controllers.started++
	number := s.controllers.started
	s.controllers.mu.Unlock()

	if o.Name == "" {
		o.Name = WinnowController
		if number > 1 {
			o.Name = fmt.Sprintf("%s-%d", WinnowController, number)
		}
	}
	if o.Namespace == "" {
		o.Namespace = WinnowNamespace
	}
	if o.Account == "" {
		o.Account = WinnowController
	}
	if o.DataDir == "" {
		o.DataDir = filepath.Join(s.dir, fmt.Sprintf("%s-data-%d", WinnowController, number))
	}
	if err := os.MkdirAll(o.DataDir, 0o750); err != nil {
		return o, err
	}
	if o.Kubeconfig == "" {
		o.Kubeconfig, err = s.ServiceAccountKubeconfig(ctx, o.Namespace, o.Account)
	}
	return o, err
}

// configureController picks the addresses of a controller.
func (s *Stack) configureController(c *Controller, o ControllerOptions) (launch, error) {
	addresses, err := freeAddresses(3)
	if err != nil {
		return launch{}, err
	}
	c.HealthAddr, c.MetricsAddr = addresses[0], addresses[1]
	c.StorageAddr = o.StorageAddr
	if c.StorageAddr == "" {
		c.StorageAddr = s.shareStorageAddr(addresses[2])
	}
	args := append(storageArgs(o.DataDir, c.StorageAddr),
		"--health-addr="+c.HealthAddr,
		"--metrics-addr="+c.MetricsAddr,
		"--events-addr=", // none
		"--min-retry-delay=200ms",
		"--max-retry-delay=2s",
		"--interval-jitter-percentage=0",
		"--log-level=debug",
		"--log-encoding=json",
	)
	return launch{
		args:  append(args, o.Args...),
		env:   append(s.controllerEnvironment(o.Kubeconfig, o.Namespace), o.Env...),
		ready: answers(http.DefaultClient, "http://"+c.HealthAddr+"/readyz"),
	}, nil
}

// shareStorageAddr returns the address that all controllers share, the first proposal. An empty proposal
// resets it.
func (s *Stack) shareStorageAddr(proposal string) string {
	s.controllers.mu.Lock()
	defer s.controllers.mu.Unlock()
	if s.controllers.storageAddr == "" || proposal == "" {
		s.controllers.storageAddr = proposal
	}
	return s.controllers.storageAddr
}

// BuildController builds Winnow's controller once for the same flags, and returns the path of its binary.
func (s *Stack) BuildController(ctx context.Context, flags ...string) (string, error) {
	s.controllers.building.Lock()
	defer s.controllers.building.Unlock()
	key := strings.Join(flags, " ")
	if path := s.controllers.built[key]; path != "" {
		return path, nil
	}
	s.progress.step("%s", strings.TrimSpace("building "+WinnowController+" "+key))
	started := time.Now()
	path := filepath.Join(s.dir, fmt.Sprintf("%s-%d.bin", WinnowController, len(s.controllers.built)+1))
	args := append([]string{"build", "-o", path, "-buildvcs=false", "-ldflags=-s -w"}, flags...)
	args = append(args, modulePath+"/cmd/"+WinnowController)
	cgo := "CGO_ENABLED=0" // as in `make build`, whose results are reused
	if slices.Contains(flags, "-race") {
		cgo = "CGO_ENABLED=1"
	}
	if err := goRun(ctx, s.root, []string{cgo}, args...); err != nil {
		return "", fmt.Errorf("building %s: %w", WinnowController, err)
	}
	s.progress.note("built in %s", round(time.Since(started)))
	if s.controllers.built == nil {
		s.controllers.built = map[string]string{}
	}
	s.controllers.built[key] = path
	return path, nil
}

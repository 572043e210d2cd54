// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
)

// StartCollector builds and starts the garbage collector of Kubernetes, which follows owner references, and its controller of
// namespaces.
func (s *Stack) StartCollector(ctx context.Context) (*Process, error) {
	s.progress.step("building and starting %s", Collector)
	home := filepath.Join(s.dir, Collector)
	if err := os.MkdirAll(home, 0o750); err != nil {
		return nil, err
	}
	path := filepath.Join(home, Collector)
	module := filepath.Join(s.root, "test", "tools", serversModule)
	if err := goRun(ctx, module, []string{"CGO_ENABLED=0"}, "build", "-o", path, "-buildvcs=false", "-ldflags=-s -w", "./"+Collector); err != nil {
		return nil, err
	}
	return s.launch(ctx, command{name: Collector, path: path, dir: home}, func() (launch, error) {
		address, err := freeAddress()
		return launch{
			args:  []string{address},
			env:   []string{"KUBECONFIG=" + s.kubeconfig},
			ready: answers(http.DefaultClient, "http://"+address+"/healthz"),
		}, err
	})
}

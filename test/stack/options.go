// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"io"

	"k8s.io/apimachinery/pkg/runtime"
)

// Namespaces of every stack.
const (
	FluxNamespace   = "flux-system"
	WinnowNamespace = "winnow-system"
)

// Options select what Start starts. The zero value starts etcd and kube-apiserver with the CRDs of Flux.
type Options struct {
	// Dir contains data, logs and kubeconfigs, and remains after Stop. Empty: a temporary directory, which
	// Stop removes.
	Dir string

	// Progress gets a line for each step, and the end of a server's log when it fails. Nil: no output.
	Progress io.Writer

	// Registry and the controllers of Flux are started when they are set. HelmController also installs the
	// CRD of HelmReleases.
	Registry            bool
	SourceController    bool
	KustomizeController bool
	HelmController      bool

	// NodeAddress is the address of the node that StartNode starts. The servers that pods reach listen on it, and the API
	// server admits pods as a cluster does. Empty: no pods run.
	NodeAddress string

	// CRDs are files, or directories of files, with CustomResourceDefinitions to install besides those of
	// Flux. Relative paths start at the root of the repository.
	CRDs []string

	// Args are appended to the flags of a server, by its name; of a flag given twice the last one counts.
	Args map[string][]string

	// AddToScheme extends the scheme of Client, which contains Kubernetes, CRDs and Flux.
	AddToScheme []func(*runtime.Scheme) error
}

// selected returns the servers of the options, in the order in which they start.
func (o Options) selected() []server {
	optional := map[string]bool{
		Registry:            o.Registry,
		SourceController:    o.SourceController,
		KustomizeController: o.KustomizeController,
		HelmController:      o.HelmController,
	}
	var wanted []server
	for _, srv := range servers() {
		if on, isOptional := optional[srv.name]; on || !isOptional {
			wanted = append(wanted, srv)
		}
	}
	return wanted
}

// fluxDefiners returns the controllers of Flux whose CRDs are installed with these options.
func (o Options) fluxDefiners() []string {
	if o.HelmController {
		return []string{SourceController, KustomizeController, HelmController}
	}
	return []string{SourceController, KustomizeController}
}

// SPDX-License-Identifier: Apache-2.0

package stack

// Names of the servers, of their binaries and of their logs.
const (
	Etcd                = "etcd"
	APIServer           = "kube-apiserver"
	Registry            = "registry"
	SourceController    = "source-controller"
	KustomizeController = "kustomize-controller"
	HelmController      = "helm-controller"
	Catalogd            = "catalogd"
	OperatorController  = "operator-controller"
	Collector           = "collector"
)

// server describes the build of the binary of a server.
type server struct {
	name   string
	module string // directory under test/tools whose go.mod pins it
	pins   string // of a server in serversModule: the directory with the versions that its project pins
	pkg    string // its main package

	// versionOf is the module with the version of the binary; versionVars are the string variables that
	// the linker sets to it, since `go build` of a dependency leaves them at a placeholder.
	versionOf   string
	versionVars []string

	tags    string // build tags
	minutes int    // what it adds to a build on two cores, after the product and the servers before it
}

// servers returns all servers in the order in which they start.
func servers() []server {
	return []server{{
		name: Etcd, module: serversModule, pins: "etcd", pkg: "go.etcd.io/etcd/server/v3",
		versionOf: "go.etcd.io/etcd/server/v3", minutes: 1,
	}, {
		name: APIServer, module: serversModule, pins: "apiserver", pkg: "k8s.io/kubernetes/cmd/kube-apiserver",
		versionOf:   "k8s.io/kubernetes",
		versionVars: []string{"k8s.io/component-base/version.gitVersion"}, minutes: 1,
	}, {
		name: Registry, module: serversModule, pins: "registry", pkg: "github.com/distribution/distribution/v3/cmd/registry",
		versionOf:   "github.com/distribution/distribution/v3",
		versionVars: []string{"github.com/distribution/distribution/v3/version.version"}, minutes: 1,
	}, {
		name: SourceController, module: serversModule, pins: "flux", pkg: "github.com/fluxcd/source-controller",
		versionOf: "github.com/fluxcd/source-controller", minutes: 1,
	}, {
		name: KustomizeController, module: serversModule, pins: "flux", pkg: "github.com/fluxcd/kustomize-controller",
		versionOf: "github.com/fluxcd/kustomize-controller", minutes: 1,
	}, {
		name: HelmController, module: serversModule, pins: "helm", pkg: "github.com/fluxcd/helm-controller",
		versionOf: "github.com/fluxcd/helm-controller", minutes: 1,
	}}
}

// serversModule pins the servers of the stack together, with the versions of the product, so that what they share is
// compiled once.
const serversModule = "servers"

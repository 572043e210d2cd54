// SPDX-License-Identifier: Apache-2.0

package kustomized

import (
	"sync"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/api/resmap"
	kustypes "sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/openapi"
	"sigs.k8s.io/kustomize/kyaml/openapi/kubernetesapi"

	"github.com/winnow-dev/winnow/render/parallel"
)

// oneDirectory serializes builds that may set the OpenAPI schema, which kustomize keeps in global variables.
var oneDirectory sync.Mutex

// Factory returns what reads objects as a build of kustomize does. It parses the built-in OpenAPI schema first: kustomize does so
// in the first build that needs it, and looks up the scope of an object in it without a lock.
var Factory = sync.OnceValue(func() *resmap.Factory {
	openapi.Schema()
	return resmap.NewFactory(provider.NewDefaultDepProvider().GetResourceFactory())
})

// Directory builds a directory with the result that Build of fluxcd/pkg/kustomize has. Flux parses the built-in
// OpenAPI schema before every build, because a schema in a kustomization file adds to it. That takes longer than most
// builds, so Directory does it only for those that set a schema, and leaves none of theirs to the next build.
// One directory is built at a time. A tree must not be built meanwhile.
func Directory(files filesys.FileSystem, dir string) (resmap.ResMap, error) {
	oneDirectory.Lock()
	defer oneDirectory.Unlock()
	objects, err := tryDirectory(files, dir)
	if openapi.GetSchemaVersion() == kubernetesapi.DefaultOpenAPI {
		return objects, err
	}
	defer resetSchema()
	resetSchema()
	return tryDirectory(files, dir)
}

// resetSchema restores the schema that a process has before any build sets another, and parses it.
func resetSchema() {
	openapi.ResetOpenAPI()
	openapi.Schema()
}

// tryDirectory builds a directory with the options of kustomize-controller, and returns panics as errors.
func tryDirectory(files filesys.FileSystem, dir string) (objects resmap.ResMap, err error) {
	defer parallel.RecoverAs("recovered from kustomize build panic", &err)
	return krusty.MakeKustomizer(&krusty.Options{
		LoadRestrictions: kustypes.LoadRestrictionsNone,
		PluginConfig:     kustypes.DisabledPluginConfig(),
	}).Run(files, dir)
}

// SPDX-License-Identifier: Apache-2.0

package building

import (
	"fmt"
	"sync"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	kustypes "sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/openapi"
	"sigs.k8s.io/kustomize/kyaml/openapi/kubernetesapi"
)

// oneBuild serializes builds: kustomize keeps the OpenAPI schema in global variables.
var oneBuild sync.Mutex

// runKustomize builds a directory with the result that Build of fluxcd/pkg/kustomize has. Flux parses the built-in
// OpenAPI schema before every build, because a schema in a kustomization file adds to it. That takes longer than most
// builds, so runKustomize does it only for those that set a schema, and leaves none of theirs to the next build.
func runKustomize(files filesys.FileSystem, dir string) (resmap.ResMap, error) {
	oneBuild.Lock()
	defer oneBuild.Unlock()
	resources, err := tryKustomize(files, dir)
	if openapi.GetSchemaVersion() == kubernetesapi.DefaultOpenAPI {
		return resources, err
	}
	defer openapi.ResetOpenAPI()
	openapi.ResetOpenAPI()
	openapi.Schema()
	return tryKustomize(files, dir)
}

// tryKustomize builds a directory with the options of kustomize-controller, and returns panics as errors.
func tryKustomize(files filesys.FileSystem, dir string) (resources resmap.ResMap, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("recovered from kustomize build panic: %v", p)
		}
	}()
	return krusty.MakeKustomizer(&krusty.Options{
		LoadRestrictions: kustypes.LoadRestrictionsNone,
		PluginConfig:     kustypes.DisabledPluginConfig(),
	}).Run(files, dir)
}

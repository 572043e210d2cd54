package gitops

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

// runKustomize builds a directory with the options of kustomize-controller, as Build of fluxcd/pkg/kustomize does.
// Unlike that, which parses the built-in OpenAPI schema for every build, it keeps the schema until a kustomization
// file replaces it: parsing takes longer than most builds.
func runKustomize(files filesys.FileSystem, dir string) (resources resmap.ResMap, err error) {
	oneBuild.Lock()
	defer oneBuild.Unlock()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("recovered from kustomize build panic: %v", p)
		}
		if openapi.GetSchemaVersion() != kubernetesapi.DefaultOpenAPI {
			openapi.ResetOpenAPI()
		}
	}()
	openapi.Schema() // a schema in a kustomization file adds to the built-in one
	return krusty.MakeKustomizer(&krusty.Options{
		LoadRestrictions: kustypes.LoadRestrictionsNone,
		PluginConfig:     kustypes.DisabledPluginConfig(),
	}).Run(files, dir)
}

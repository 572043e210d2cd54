// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
)

// OLM is a release of the Operator Lifecycle Manager, as far as its CustomResourceDefinitions differ.
type OLM struct {
	tools  string // directory under test/tools whose go.mod pins it
	module string
	files  []string // paths in the module
}

const operatorController = "github.com/operator-framework/operator-controller"

// OLMv0 has CatalogSource, OperatorGroup and Subscription.
func OLMv0() OLM {
	return OLM{tools: "crds", module: "github.com/operator-framework/api", files: []string{
		"crds/operators.coreos.com_catalogsources.yaml",
		"crds/operators.coreos.com_operatorgroups.yaml",
		"crds/operators.coreos.com_subscriptions.yaml",
	}}
}

// OLMv1First has ClusterCatalog and ClusterExtension of operator-controller 1.2, which requires a ServiceAccount.
func OLMv1First() OLM {
	return OLM{tools: olmModule, module: operatorController, files: []string{
		"config/base/catalogd/crd/bases/olm.operatorframework.io_clustercatalogs.yaml",
		"config/base/operator-controller/crd/bases/olm.operatorframework.io_clusterextensions.yaml",
	}}
}

// OLMv1 has ClusterCatalog and ClusterExtension of operator-controller 1.11, which ignores the ServiceAccount.
func OLMv1() OLM {
	const base = "helm/olmv1/base/"
	return OLM{tools: "crds", module: operatorController, files: []string{
		base + "catalogd/crd/standard/olm.operatorframework.io_clustercatalogs.yaml",
		base + "operator-controller/crd/standard/olm.operatorframework.io_clusterextensions.yaml",
	}}
}

// CRDs returns the paths of the files with the definitions, for Options.CRDs.
func (o OLM) CRDs(ctx context.Context) ([]string, error) {
	root, err := Root(ctx)
	if err != nil {
		return nil, err
	}
	dir, err := PinnedModule(ctx, root, o.tools, o.module)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, file := range o.files {
		paths = append(paths, filepath.Join(dir, filepath.FromSlash(file)))
	}
	return paths, nil
}

// InstallOLM installs the definitions of a release. The API server may serve those of an earlier release, which they
// replace, for a moment longer.
func (s *Stack) InstallOLM(ctx context.Context, release OLM) error {
	paths, err := release.CRDs(ctx)
	if err != nil {
		return fmt.Errorf("finding the CRDs of OLM: %w", err)
	}
	for _, path := range paths {
		if err := s.ApplyPath(ctx, path); err != nil {
			return err
		}
	}
	return nil
}

// PinnedModule returns the directory of a module in the version that a module of test/tools requires.
func PinnedModule(ctx context.Context, root, tools, path string) (string, error) {
	dir := filepath.Join(root, "test", "tools", tools)
	var pinned struct {
		Require []struct{ Path, Version string }
	}
	if err := goJSON(ctx, dir, &pinned, "mod", "edit", "-json"); err != nil {
		return "", err
	}
	for _, require := range pinned.Require {
		if require.Path == path {
			// Unlike list, download needs no sums of what the module requires.
			var downloaded struct{ Dir string }
			err := goJSON(ctx, dir, &downloaded, "mod", "download", "-json", path+"@"+require.Version)
			return downloaded.Dir, err
		}
	}
	return "", fmt.Errorf("test/tools/%s does not require %s", tools, path)
}

func goJSON(ctx context.Context, dir string, into any, args ...string) error {
	output, err := goOutput(ctx, dir, args...)
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(output), into)
}

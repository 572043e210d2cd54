// SPDX-License-Identifier: Apache-2.0

package charts

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/installation"
)

// Use is a set of values of a chart.
type Use struct {
	// Instance that has the values; empty for the default values of the application.
	Instance string
	// ReleaseName and Namespace of the release.
	ReleaseName, Namespace string
	// Original are the values before the mirrors, and Mirrored behind them, as YAML.
	Original, Mirrored []byte
	// IsOpen reports whether the cluster has further values.
	IsOpen bool
	// IsUpgrade reports whether the release is rendered as an upgrade; otherwise as an installation.
	IsUpgrade bool
	// IsHelm3 reports whether KKP installs it, which has Helm 3; otherwise Flux does, which has Helm 4.
	IsHelm3 bool
}

// installed are the values of an instance, with the version that it installs.
type installed struct {
	application, version string
	Use
}

// readInstances returns the values of the instances that install charts, by name.
func readInstances(ctx context.Context, result *render.Result) (map[string]installed, error) {
	names := each.Map(result.Instances, func(in installation.Instance) string { return in.Name })
	built, err := result.InstanceObjects(ctx, names)
	if err != nil {
		return nil, err
	}
	all := map[string]installed{}
	for _, in := range result.Instances {
		var objects []backend.Object
		for _, o := range in.Objects {
			if content := built[o.Key]; content != nil {
				objects = append(objects, backend.Object{Unstructured: &unstructured.Unstructured{Object: content}, Role: o.Role})
			}
		}
		read, ok, err := readInstance(in, objects)
		if err != nil {
			return nil, err
		}
		if ok {
			all[in.Name] = read
		}
	}
	return all, nil
}

// readInstance reads an instance that is a release of Helm, or an installation of KKP; not ok for others.
func readInstance(in installation.Instance, objects []backend.Object) (read installed, ok bool, err error) {
	i := slices.IndexFunc(objects, func(o backend.Object) bool { return o.Role == backend.Main })
	if i < 0 || in.Version == "" {
		return read, false, nil
	}
	main := objects[i]
	read = installed{in.Application, in.Version, Use{Instance: in.Name, ReleaseName: main.GetName()}}
	switch main.GroupVersionKind().GroupKind() {
	case kinds.HelmRelease.GroupKind():
		read.ReleaseName, read.Namespace = main.Spec("releaseName").Text(), main.Spec("targetNamespace").Text()
	case kinds.ApplicationInstallation.GroupKind():
		read.Namespace = main.Spec("namespace", "name").Text()
		read.IsHelm3 = true
	default:
		return read, false, nil
	}
	effective, err := backend.EffectiveOf(main, objects)
	if err != nil {
		return read, false, err
	}
	read.IsOpen = len(effective.Open) > 0
	read.Mirrored, err = encode(effective.Values)
	read.Original = read.Mirrored
	return read, true, err
}

// SPDX-License-Identifier: Apache-2.0

package charts

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/installation"
)

// installed are the values of an instance, with its release.
type installed struct {
	application, version   string
	releaseName, namespace string
	values                 []byte
	// isOpen reports whether the cluster has further values.
	isOpen bool
	// isHelm3 reports whether KKP installs it.
	isHelm3 bool
}

// readInstances returns the values of the instances that install charts, by name.
func readInstances(ctx context.Context, result *render.Result) (map[string]installed, error) {
	var names []string
	for _, in := range result.Instances {
		names = append(names, in.Name)
	}
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
	read = installed{application: in.Application, version: in.Version, releaseName: main.GetName()}
	switch main.GroupVersionKind().GroupKind() {
	case kinds.HelmRelease.GroupKind():
		read.releaseName, _, _ = unstructured.NestedString(main.Object, "spec", "releaseName")
		read.namespace, _, _ = unstructured.NestedString(main.Object, "spec", "targetNamespace")
	case kinds.ApplicationInstallation.GroupKind():
		read.namespace, _, _ = unstructured.NestedString(main.Object, "spec", "namespace", "name")
		read.isHelm3 = true
	default:
		return read, false, nil
	}
	effective, err := backend.EffectiveOf(main, objects)
	if err != nil {
		return read, false, err
	}
	read.isOpen = len(effective.Open) > 0
	read.values, err = encode(effective.Values)
	return read, true, err
}

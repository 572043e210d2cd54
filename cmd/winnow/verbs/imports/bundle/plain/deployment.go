// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/winnow-dev/winnow/cmd/winnow/verbs/imports/bundle"
)

// deployments returns the deployments of the operator. Their pods have the annotations of the ClusterServiceVersion, by which
// operators learn which namespaces they watch.
func deployments(b *bundle.Bundle, o Options) (objects []map[string]any, err error) {
	annotations, err := podAnnotations(b, o)
	if err != nil {
		return nil, err
	}
	for _, one := range b.CSV.Spec.Install.Spec.Deployments {
		var spec map[string]any
		if err := utiljson.Unmarshal(one.Spec, &spec); err != nil || spec == nil {
			return nil, fmt.Errorf("spec.install.spec.deployments: the spec of %s is no object", one.Name)
		}
		own, _, err := unstructured.NestedStringMap(spec, "template", "metadata", "annotations")
		if err != nil {
			return nil, fmt.Errorf("the deployment %s: %w", one.Name, err)
		}
		all := map[string]string{}
		maps.Copy(all, b.CSV.Metadata.Annotations)
		maps.Copy(all, own)
		maps.Copy(all, annotations)
		if err := unstructured.SetNestedStringMap(spec, all, "template", "metadata", "annotations"); err != nil {
			return nil, fmt.Errorf("the deployment %s: %w", one.Name, err)
		}
		unstructured.RemoveNestedField(spec, "template", "metadata", "creationTimestamp")
		spec["revisionHistoryLimit"] = int64(1)
		made := object("apps/v1", "Deployment", o.InstallNamespace, one.Name, map[string]any{"spec": spec})
		if len(one.Labels) > 0 {
			if err := unstructured.SetNestedStringMap(made, one.Labels, "metadata", "labels"); err != nil {
				return nil, err
			}
		}
		objects = append(objects, made)
	}
	return objects, nil
}

// podAnnotations returns the annotations that OLM adds to the ClusterServiceVersion's, or changes there.
func podAnnotations(b *bundle.Bundle, o Options) (map[string]string, error) {
	annotations := map[string]string{
		"olm.targetNamespaces":  strings.Join(o.WatchNamespaces, ","),
		"olm.operatorNamespace": o.InstallNamespace,
	}
	if len(b.Properties) > 0 {
		all, err := json.Marshal(slices.Concat(b.OwnProperties, b.Properties))
		if err != nil {
			return nil, err
		}
		annotations[bundle.PropertiesAnnotation] = string(all)
	}
	return annotations, nil
}

// SPDX-License-Identifier: Apache-2.0

// Package plain converts a bundle into the manifests that OLM v1 creates of it: service accounts, roles with the names that
// OLM generates, definitions, the other objects, and deployments. It refuses what only OLM can provide, such as the
// certificates of webhooks. It must not know where a bundle comes from.
package plain

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/cmd/winnow/verbs/imports/bundle"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// maxListed bounds the names in a message.
const maxListed = 5

// Manifests returns the manifests of a bundle as YAML, sorted by kind, namespace and name. They have no status. The error
// lists every reason why the bundle cannot be installed without OLM.
func Manifests(b *bundle.Bundle, o Options) ([]byte, error) {
	if err := errors.Join(checkInstallable(b), checkModes(b.CSV.Spec.Modes, o)); err != nil {
		return nil, err
	}
	objects := slices.Concat(accounts(b, o), roles(b, o))
	for _, generate := range []func(*bundle.Bundle, Options) ([]map[string]any, error){contents, deployments} {
		made, err := generate(b, o)
		if err != nil {
			return nil, err
		}
		objects = append(objects, made...)
	}
	slices.SortStableFunc(objects, compare)
	objects, err := unique(objects)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	for _, object := range objects {
		content, err := yaml.Marshal(object)
		if err != nil {
			return nil, err
		}
		out.WriteString("---\n")
		out.Write(content)
	}
	return out.Bytes(), nil
}

// compare compares objects by kind, namespace and name.
func compare(x, y map[string]any) int {
	a, b := unstructured.Unstructured{Object: x}, unstructured.Unstructured{Object: y}
	return cmp.Or(cmp.Compare(a.GetKind(), b.GetKind()), cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
}

// unique returns sorted objects without repetitions, and an error for two that differ: Flux applies neither, and kubectl the last.
func unique(objects []map[string]any) ([]map[string]any, error) {
	objects = slices.CompactFunc(objects, func(x, y map[string]any) bool { return reflect.DeepEqual(x, y) })
	var errs []error
	for i := 1; i < len(objects); i++ {
		if compare(objects[i-1], objects[i]) == 0 {
			one := unstructured.Unstructured{Object: objects[i]}
			errs = append(errs, fmt.Errorf("it has two objects %s %s, and one would replace the other: give one of them another name",
				one.GetKind(), excerpt.Quoted(one.GetName())))
		}
	}
	return objects, errors.Join(errs...)
}

// checkInstallable returns what the bundle needs OLM for.
func checkInstallable(b *bundle.Bundle) error {
	var errs []error
	spec := b.CSV.Spec
	if len(spec.Webhooks) > 0 {
		var names []string
		for _, one := range spec.Webhooks {
			names = append(names, one.Name)
		}
		errs = append(errs, fmt.Errorf("it has the webhooks %s, whose certificates OLM makes and renews: install it with OLM",
			excerpt.List(names, maxListed, excerpt.Quoted)))
	}
	if len(spec.APIServices.Owned) > 0 {
		errs = append(errs, errors.New("it has an aggregated API (apiservicedefinitions), whose certificate OLM makes and renews: install it with OLM"))
	}
	if spec.Install.Strategy != "deployment" {
		errs = append(errs, fmt.Errorf("spec.install.strategy is %s, want deployment", excerpt.Quoted(spec.Install.Strategy)))
	}
	taken := map[string]bool{}
	for _, one := range spec.Install.Spec.Deployments {
		if taken[one.Name] {
			errs = append(errs, fmt.Errorf("it has two deployments with the name %s", excerpt.Quoted(one.Name)))
		}
		taken[one.Name] = true
		for _, problem := range validation.IsDNS1123Subdomain(one.Name) {
			errs = append(errs, fmt.Errorf("spec.install.spec.deployments: %s is no name of a deployment: %s", excerpt.Quoted(one.Name), problem))
		}
	}
	return errors.Join(errs...)
}

// contents returns the objects of the bundle but its ClusterServiceVersion, in the namespace of the operator.
func contents(b *bundle.Bundle, o Options) (objects []map[string]any, err error) {
	for _, one := range b.Objects {
		if one.Kind == bundle.KindCSV {
			continue
		}
		var object map[string]any
		if err := utiljson.Unmarshal(one.JSON, &object); err != nil {
			return nil, fmt.Errorf("%s: %w", one.Path, err)
		}
		if _, isList := object[catalog.ItemsField]; isList {
			return nil, fmt.Errorf("%s: has the field %s, by which kubectl and Flux take it for a list, and apply what is in it instead", one.Path, catalog.ItemsField)
		}
		delete(object, "status")
		unstructured.RemoveNestedField(object, "metadata", "creationTimestamp")
		if bundle.IsNamespaced(one.Kind) {
			if err := unstructured.SetNestedField(object, o.InstallNamespace, "metadata", "namespace"); err != nil {
				return nil, fmt.Errorf("%s: %w", one.Path, err)
			}
		}
		objects = append(objects, object)
	}
	return objects, nil
}

// deployments returns the deployments of the operator. Their pods have the annotations of the ClusterServiceVersion, by which
// operators learn which namespaces they watch.
func deployments(b *bundle.Bundle, o Options) (objects []map[string]any, err error) {
	annotations := podAnnotations(b, o)
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
			_ = unstructured.SetNestedStringMap(made, one.Labels, "metadata", "labels") // it has metadata
		}
		objects = append(objects, made)
	}
	return objects, nil
}

// podAnnotations returns the annotations that OLM adds to the ClusterServiceVersion's, or changes there.
func podAnnotations(b *bundle.Bundle, o Options) map[string]string {
	annotations := map[string]string{
		"olm.targetNamespaces":  strings.Join(o.WatchNamespaces, ","),
		"olm.operatorNamespace": o.InstallNamespace,
	}
	if len(b.Properties) > 0 {
		all, _ := json.Marshal(slices.Concat(b.OwnProperties, b.Properties)) // JSON that the reader of bundles has read
		annotations[bundle.PropertiesAnnotation] = string(all)
	}
	return annotations
}

// SPDX-License-Identifier: Apache-2.0

package live

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/receipt"
	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/definition"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/value"
)

// installed is an application with a version, each empty where it is not known.
type installed struct{ application, version string }

// installer is a kind of objects that install applications.
type installer struct {
	schema.GroupVersionKind
	// content reports that more than the metadata is read.
	content bool
	// of returns what an object installs. kindOf maps kinds of Cozystack to the definitions that have them.
	of func(object *unstructured.Unstructured, kindOf map[string][]string) []installed
}

var installers = []installer{
	{kinds.HelmRelease, false, release}, {kinds.Terraform, false, release},
	{kinds.ApplicationInstallation, true, at("spec.applicationRef.name", "spec.applicationRef.version")},
	{kinds.ClusterExtension, true, at("spec.source.catalog.packageName", "status.install.bundle.name")},
	{kinds.Subscription, true, at("spec.name", "status.installedCSV")},
}

// release returns the application of an instance of Winnow, and of a release of Cozystack.
func release(object *unstructured.Unstructured, kindOf map[string][]string) (all []installed) {
	if annotations := object.GetAnnotations(); annotations[v1alpha1.ApplicationAnnotation] != "" {
		return []installed{{annotations[v1alpha1.ApplicationAnnotation], annotations[v1alpha1.VersionAnnotation]}}
	}
	labels := object.GetLabels()
	return each.Map(kindOf[labels[kinds.CozystackApps+"/application.kind"]], func(name string) installed { return installed{application: name} })
}

// at returns a function that reads the application and the version at two paths.
func at(application, version string) func(*unstructured.Unstructured, map[string][]string) []installed {
	return func(object *unstructured.Unstructured, _ map[string][]string) []installed {
		text := func(path string) string { return value.Of(object.Object).Get(strings.Split(path, ".")...).Text() }
		if name := text(application); name != "" {
			return []installed{{name, text(version)}}
		}
		return nil
	}
}

// Uses returns the installations in the cluster, by the kind of their objects, with the names of these if they are asked for. A kind
// that the account must not list is unknown, but for the instances in the status of CatalogSelections.
func (c *Cluster) Uses(ctx context.Context, names bool) (all []receipt.Uses, err error) {
	definitions, err := c.list(ctx, definitionKinds[1])
	if err != nil {
		return nil, err
	}
	kindOf := map[string][]string{}
	for _, d := range definitions {
		if kind := definition.ApplicationKind(value.Of(d.Object).Get("spec")).Text(); kind != "" {
			kindOf[kind] = append(kindOf[kind], d.GetName())
		}
	}
	hasDefinitions, err := c.resource(ctx, definitionKinds[0])
	if err != nil {
		return nil, err
	}
	for _, from := range installers {
		objects, unknown := map[installed][]string{}, ""
		if from.GroupVersionKind == kinds.ApplicationInstallation && hasDefinitions != "" {
			// Those that live here, if any, are of another KKP.
			all = append(all, receipt.Uses{Kind: from.Kind, Unknown: receipt.InUserClusters})
			continue
		}
		client := c.metadata
		if from.content {
			client = c.objects
		}
		found, err := c.listBy(ctx, client, from.GroupVersionKind, metav1.ListOptions{})
		switch {
		case apierrors.IsForbidden(err):
			if unknown, err = receipt.Forbidden, c.instances(ctx, from.Kind, objects); err != nil {
				return nil, err
			}
		case err != nil:
			return nil, err
		}
		for i := range found {
			for _, one := range from.of(&found[i], kindOf) {
				objects[one] = append(objects[one], strings.TrimPrefix(found[i].GetNamespace()+"/"+found[i].GetName(), "/"))
			}
		}
		all = append(all, receipt.Uses{Kind: from.Kind, Unknown: unknown, Applications: usesOf(objects, names)})
	}
	return all, nil
}

// instances adds the instances of CatalogSelections that a kind of objects installs. What Cozystack installs for its own kinds are
// HelmReleases. Instances of a selection that pushes may live elsewhere.
func (c *Cluster) instances(ctx context.Context, kind string, objects map[installed][]string) error {
	found, err := All[v1alpha1.CatalogSelection](ctx, c, selectionKind, "")
	if err != nil && !apierrors.IsForbidden(err) {
		return err
	}
	for _, cs := range found {
		for _, in := range cs.Status.Instances {
			by, name, _ := strings.Cut(in.Object, " ")
			if !slices.ContainsFunc(installers, func(one installer) bool { return one.Kind == by }) {
				by = kinds.HelmRelease.Kind
			}
			if by == kind && cs.Spec.Push == nil {
				one := installed{in.Application, in.Version}
				objects[one] = append(objects[one], name)
			}
		}
	}
	return nil
}

func usesOf(objects map[installed][]string, names bool) (all []receipt.Use) {
	order := func(a, b installed) int {
		return cmp.Or(strings.Compare(a.application, b.application), strings.Compare(a.version, b.version))
	}
	for _, one := range slices.SortedFunc(maps.Keys(objects), order) {
		use := receipt.Use{Application: one.application, Version: one.version, Installations: len(objects[one])}
		if names {
			use.Objects = objects[one]
		}
		all = append(all, use)
	}
	return all
}

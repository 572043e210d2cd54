// SPDX-License-Identifier: Apache-2.0

package installation

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/instance"
	"github.com/winnow-dev/winnow/render/kustomized"
	"github.com/winnow-dev/winnow/render/refusal"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/value"
)

// annotate adds to the main object what it installs, and the digest of its source if source is true. A commonMetadata cannot have these annotations.
func annotate(b instance.Built, source bool) {
	annotations := map[string]string{v1alpha1.InstanceAnnotation: b.Name, v1alpha1.ApplicationAnnotation: b.Application}
	if version := b.Installed(); version != "" {
		annotations[v1alpha1.VersionAnnotation] = version
	}
	if source {
		annotations[v1alpha1.SourceDigestAnnotation] = b.Decision.SourceDigest
	}
	backend.MainOf(b.Objects).Annotate(annotations)
}

// DefinitionOf reads an object in the cluster: a definition, or the main object of an instance.
func DefinitionOf(object map[string]any) safeguard.Definition {
	if d := safeguard.DefinitionOf(object); d.Key().IsDefinition() {
		return d
	}
	return MainOf(object)
}

// MainOf reads the main object of an instance, in the types that JSON and kustomize have. Its annotations name the instance, its
// application and its version. Without them, an ApplicationInstallation has its application, and an object of OLM its package.
func MainOf(object map[string]any) safeguard.Definition {
	u := &unstructured.Unstructured{Object: object}
	annotations := u.GetAnnotations()
	main := safeguard.Definition{
		APIVersion: u.GetAPIVersion(), Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName(),
		Instance: annotations[v1alpha1.InstanceAnnotation], Application: annotations[v1alpha1.ApplicationAnnotation],
		Identity: map[string]string{},
	}
	if version := annotations[v1alpha1.VersionAnnotation]; version != "" {
		main.Versions = []string{version}
	}
	if main.Application == "" {
		main.Application = value.Of(object).Get("spec", "applicationRef", "name").Text()
	}
	identity := backend.IdentityOf(backend.Object{Unstructured: u, Role: backend.Main})
	main.Application, main.Channel = cmp.Or(main.Application, identity.Package), identity.Channel
	release := identity.Release
	for field, value := range map[string]string{
		safeguard.ReleaseField: release.Name, safeguard.StorageNamespaceField: release.StorageNamespace,
		safeguard.TargetNamespaceField: cmp.Or(release.TargetNamespace, identity.PackageNamespace),
		safeguard.ChartField:           release.Chart, safeguard.ModuleField: identity.Module, safeguard.PackageField: identity.Package,
	} {
		if value != "" {
			main.Identity[field] = value
		}
	}
	return main
}

// IdentityIn returns the identity of a main object, with what the objects beside it decide.
func IdentityIn(main backend.Object, objects []backend.Object) map[string]string {
	identity := MainOf(main.Object).Identity
	if chart := backend.ChartIn(main, objects); chart != "" && identity[safeguard.ChartField] == "" {
		identity[safeguard.ChartField] = chart
	}
	if targets := backend.TargetsIn(main, objects); targets != "" {
		identity[safeguard.TargetsField] = targets
	}
	return identity
}

// Dir is the directory of the objects of instances in an artifact.
const Dir = "instances"

// File returns the path of the object of an instance with a key in the artifact.
func File(key safeguard.Key) string {
	return path.Join(Dir, key.Namespace, strings.ToLower(key.Kind)+"-"+key.Name+".yaml")
}

// KeyOf returns the key of an object of an instance.
func KeyOf(object backend.Object) safeguard.Key {
	return safeguard.KeyOf(object.GroupVersionKind().Group, object.GetKind(), object.GetNamespace(), object.GetName())
}

// Object is an object of an instance.
type Object struct {
	Key  safeguard.Key
	Role backend.Role
}

// Patched returns the objects of instances as patches leave them: patched has the built objects, nil without patches.
func Patched(objects []backend.Object, patched map[safeguard.Key]kustomized.Object) []backend.Object {
	all := slices.Clone(objects)
	for i, object := range all {
		if content, ok := patched[KeyOf(object)]; ok {
			all[i].Unstructured = &unstructured.Unstructured{Object: content}
		}
	}
	return all
}

// checkChosen refuses a patch that changes what is installed: the spec and the catalog decide that.
func checkChosen(objects, patched []backend.Object) error {
	for i, object := range objects {
		if field := backend.ChosenDiffer(object, patched[i]); field != "" {
			return refusal.OfSpec("spec.patches", []error{fmt.Errorf("a patch must not change %s of %s: spec.instances says what is installed",
				field, KeyOf(object))})
		}
	}
	return nil
}

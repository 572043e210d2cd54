// SPDX-License-Identifier: Apache-2.0

package options

import (
	"regexp"
	"slices"
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/backend"
)

// repositoryPattern matches the repositories that both kinds of catalogs take.
var repositoryPattern = regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?)*(:[0-9]+)?(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)+$`)

// maxRepository is what clients of registries take, in bytes.
const maxRepository = 255

// served returns the catalog of spec.push.catalog, and the repository of its image.
func served(cs *v1alpha1.CatalogSelection, path *field.Path) (*backend.ServedCatalog, string, field.ErrorList) {
	push := cs.Spec.Push
	if push == nil || push.Catalog == nil {
		return nil, "", nil
	}
	var errs field.ErrorList
	at, catalog := path.Child("catalog"), push.Catalog
	if push.Type != v1alpha1.PushCatalogImage {
		errs = append(errs, field.Forbidden(at, "needs type: "+v1alpha1.PushCatalogImage))
	}
	if cs.Spec.Definitions == v1alpha1.DefinitionsOmit {
		errs = append(errs, field.Forbidden(at, "needs definitions: "+v1alpha1.DefinitionsPublish+", which publishes the packages"))
	}
	kinds := []string{v1alpha1.PushClusterCatalog, v1alpha1.PushCatalogSource}
	switch {
	case !slices.Contains(kinds, catalog.Kind):
		errs = append(errs, field.NotSupported(at.Child("kind"), catalog.Kind, kinds))
	case catalog.Kind == v1alpha1.PushClusterCatalog && catalog.Namespace != "":
		errs = append(errs, field.Forbidden(at.Child("namespace"), "a ClusterCatalog has no namespace: leave it out"))
	case catalog.Kind == v1alpha1.PushCatalogSource:
		for _, problem := range apivalidation.ValidateNamespaceName(catalog.Namespace, false) {
			errs = append(errs, field.Invalid(at.Child("namespace"), catalog.Namespace, problem))
		}
	}
	repository, isOCI := strings.CutPrefix(push.URL, "oci://")
	if !isOCI || len(repository) > maxRepository || !repositoryPattern.MatchString(repository) {
		errs = append(errs, field.Invalid(path.Child("url"), push.URL, "must be oci://host/path without a tag, as OLM takes it"))
	}
	return backend.Serve(catalog.Kind, catalog.Namespace, cs.Namespace, cs.Name), repository, errs
}

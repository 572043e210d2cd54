// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/live"
	"github.com/winnow-dev/winnow/config"
	"github.com/winnow-dev/winnow/render/backend/kinds"
)

// need is a right of an account, and what grants it. verbs are separated by commas; right has none.
type need struct {
	account types.NamespacedName
	right   authorizationv1.ResourceAttributes
	verbs   string
	grants  string
}

// target returns what the right is about.
func (n need) target() string {
	resource := strings.Trim(n.right.Resource+"/"+n.right.Subresource, "/")
	object := strings.Trim(n.right.Namespace+"/"+n.right.Name, "/")
	return strings.TrimSpace(strings.TrimSuffix(resource+"."+n.right.Group, ".") + " " + object)
}

// reach is how a registry is reached, by an OCIRepository or spec.push.
type reach struct {
	// of is the selection that needs the registry.
	of                               *v1alpha1.CatalogSelection
	by, namespace, provider, account string
	secrets                          []*meta.LocalObjectReference
}

// ofCloud reports whether the controller gets credentials of a cloud as another account.
func (r reach) ofCloud() bool {
	return r.account != "" && r.provider != "" && r.provider != sourcev1.GenericOCIProvider
}

func (r reach) needs(of types.NamespacedName) (all []need) {
	in := authorizationv1.ResourceAttributes{Resource: "secrets", Namespace: r.namespace}
	for _, secret := range r.secrets {
		if secret != nil {
			in.Name = secret.Name
			all = append(all, need{of, in, "get", config.GrantsSecrets(r.namespace)})
		}
	}
	if r.account != "" {
		in.Resource, in.Name = "serviceaccounts", r.account
		all = append(all, need{of, in, "get", config.GrantsSecrets(r.namespace)})
	}
	if r.ofCloud() {
		in.Subresource = "token"
		all = append(all, need{of, in, "create", config.GrantsWorkloadIdentity})
	}
	return all
}

// readsManifest reports whether the controller reads the manifest of a source with the format in the registry.
func readsManifest(format string) bool {
	return slices.Contains([]string{"", v1alpha1.FormatAuto, v1alpha1.FormatFileBased}, format)
}

// reached returns how the registries of all selections are reached.
func (in *installation) reached(ctx context.Context) (all []reach, err error) {
	repositories, err := live.All[sourcev1.OCIRepository](ctx, in.Cluster, kinds.OCIRepository, "")
	if err != nil {
		return nil, err
	}
	for _, s := range in.selections {
		for _, source := range s.Spec.Sources {
			i := slices.IndexFunc(repositories, func(r *sourcev1.OCIRepository) bool {
				return r.Name == source.Name && r.Namespace == cmp.Or(source.Namespace, s.Namespace)
			})
			if i < 0 || cmp.Or(source.Kind, sourcev1.OCIRepositoryKind) != sourcev1.OCIRepositoryKind || !readsManifest(source.Format) {
				continue // Winnow contacts no registry
			}
			r := repositories[i]
			all = append(all, reach{
				s, "OCIRepository " + r.Namespace + "/" + r.Name, r.Namespace, r.Spec.Provider, r.Spec.ServiceAccountName,
				[]*meta.LocalObjectReference{r.Spec.SecretRef, r.Spec.CertSecretRef, r.Spec.ProxySecretRef},
			})
		}
		if p := s.Spec.Push; p != nil {
			all = append(all, reach{
				s, "CatalogSelection " + s.Namespace + "/" + s.Name, s.Namespace, p.Provider, p.ServiceAccountName,
				[]*meta.LocalObjectReference{p.SecretRef, p.CertSecretRef, p.ProxySecretRef},
			})
		}
	}
	return all, nil
}

// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/spf13/pflag"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/live"
	"github.com/winnow-dev/winnow/config"
	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/each"
)

// installation is what several checks need, each with the error of its reading.
type installation struct {
	*live.Cluster

	// of maps winnow and flux to their Deployments.
	of         map[string]deployments
	unread     error
	selections []*v1alpha1.CatalogSelection
	unlisted   error
}

func read(ctx context.Context, cluster *live.Cluster) *installation {
	in := &installation{Cluster: cluster, of: map[string]deployments{}}
	for _, part := range []string{"winnow", "flux"} {
		found, err := live.All[appsv1.Deployment](ctx, cluster, appsv1.SchemeGroupVersion.WithKind("Deployment"), "app.kubernetes.io/part-of="+part)
		in.unread = cmp.Or(in.unread, err)
		in.of[part] = each.Map(found, newDeployment)
	}
	in.of["winnow"] = in.of["winnow"].named("winnow-controller") // others may be part of Winnow, too
	in.selections, in.unlisted = live.All[v1alpha1.CatalogSelection](ctx, cluster, v1alpha1.GroupVersion.WithKind(v1alpha1.CatalogSelectionKind), "")
	return in
}

type deployments []deployment

// named returns the Deployments of a controller, with its shards.
func (all deployments) named(name string) deployments {
	return slices.DeleteFunc(slices.Clone(all), func(d deployment) bool { return !strings.Contains(d.Name, name) })
}

// deployment is the Deployment of a controller.
type deployment struct {
	*appsv1.Deployment

	flags *pflag.FlagSet
}

func newDeployment(of *appsv1.Deployment) deployment {
	d := deployment{Deployment: of}
	d.flags = d.readFlags()
	return d
}

func (d deployment) String() string { return d.Namespace + "/" + d.Name }

// container returns the one of the controller, beside which there may be others.
func (d deployment) container() corev1.Container {
	all := d.Spec.Template.Spec.Containers
	if i := slices.IndexFunc(all, func(c corev1.Container) bool { return c.Name == "manager" }); i > 0 {
		return all[i]
	}
	return slices.Concat(all, []corev1.Container{{}})[0]
}

// readFlags returns the flags of the controller that count here, as the controller reads them.
func (d deployment) readFlags() *pflag.FlagSet {
	c, variables, address := d.container(), []string{"$(RUNTIME_NAMESPACE)", d.Namespace}, ""
	for _, v := range c.Env {
		if v.ValueFrom == nil {
			variables = append(variables, "$("+v.Name+")", v.Value)
		}
		if v.Name == "STORAGE_ADV_ADDR" {
			address = v.Value
		}
	}
	set := pflag.NewFlagSet(d.Name, pflag.ContinueOnError)
	set.ParseErrorsAllowlist.UnknownFlags = true
	set.Usage = func() {}
	set.StringToString("feature-gates", nil, "")
	set.String("storage-adv-addr", address, "")
	set.String("default-service-account", "", "")
	set.String("watch-label-selector", "", "")
	set.Bool("watch-all-namespaces", true, "")
	set.Bool("no-cross-namespace-refs", false, "")
	expand := strings.NewReplacer(variables...)
	line := each.Map(slices.Concat(c.Command, c.Args), expand.Replace)
	_ = set.Parse(line) // a controller with an invalid flag does not start
	return set
}

// flag returns the value of a flag.
func (d deployment) flag(name string) string { return d.flags.Lookup(name).Value.String() }

// gated reports whether a feature gate is set to true.
func (d deployment) gated(feature string) bool {
	gates, _ := d.flags.GetStringToString("feature-gates")
	for name, value := range gates {
		if on, err := strconv.ParseBool(strings.TrimSpace(value)); err == nil && on && strings.TrimSpace(name) == feature {
			return true
		}
	}
	return false
}

// reconciles reports whether the controller reconciles a selection: it may watch its own namespace alone, or some labels.
func (d deployment) reconciles(s *v1alpha1.CatalogSelection) bool {
	selector, err := labels.Parse(d.flag("watch-label-selector"))
	return (d.flag("watch-all-namespaces") == "true" || s.Namespace == d.Namespace) && err == nil && selector.Matches(labels.Set(s.Labels))
}

// reconciledBy returns the selections that a controller reconciles.
func (in *installation) reconciledBy(d deployment) []*v1alpha1.CatalogSelection {
	return slices.DeleteFunc(slices.Clone(in.selections), func(s *v1alpha1.CatalogSelection) bool { return !d.reconciles(s) })
}

// version returns the tag of the image, empty for one that is named by its digest alone.
func (d deployment) version() (tag string) {
	image, _, _ := strings.Cut(d.container().Image, "@")
	_, tag, _ = strings.Cut(image[strings.LastIndexByte(image, '/')+1:], ":")
	return tag
}

var refusal = regexp.MustCompile(`cannot (\S+) resource "([^"]+)" in API group "([^"]*)"( in the namespace "[^"]*"| at the cluster scope)`)

// errAbsent reports that the cluster has no Deployment of Winnow.
var errAbsent = errors.New("no controller is found")

// unknownBecause returns why something is unknown, with the right that the API server misses.
func unknownBecause(err error) string {
	found := refusal.FindStringSubmatch(err.Error())
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "the cluster did not answer in time: a longer --timeout may help"
	case !apierrors.IsForbidden(err) || found == nil:
		return err.Error()
	}
	return fmt.Sprintf("it may not be read: you need the right to %s %s%s", found[1], strings.TrimSuffix(found[2]+"."+found[3], "."), found[4])
}

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

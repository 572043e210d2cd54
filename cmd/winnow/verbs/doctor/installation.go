// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/live"
)

// installation is what several checks need, each with the error of its reading.
type installation struct {
	*live.Cluster

	// of maps winnow and flux to their Deployments.
	of         map[string][]deployment
	unread     error
	selections []*v1alpha1.CatalogSelection
	unlisted   error
}

func read(ctx context.Context, cluster *live.Cluster) *installation {
	in := &installation{Cluster: cluster, of: map[string][]deployment{}}
	for _, part := range []string{"winnow", "flux"} {
		found, err := live.All[appsv1.Deployment](ctx, cluster, appsv1.SchemeGroupVersion.WithKind("Deployment"), "app.kubernetes.io/part-of="+part)
		in.unread = errors.Join(in.unread, err)
		for _, d := range found {
			in.of[part] = append(in.of[part], deployment{d})
		}
	}
	in.selections, in.unlisted = live.All[v1alpha1.CatalogSelection](ctx, cluster, v1alpha1.GroupVersion.WithKind(v1alpha1.CatalogSelectionKind), "")
	return in
}

// deployment is the Deployment of a controller.
type deployment struct{ *appsv1.Deployment }

func (d deployment) String() string { return d.Namespace + "/" + d.Name }

// flag returns the value of the last flag of that name, with the namespace for its variable.
func (d deployment) flag(name string) (value string) {
	for _, c := range d.Spec.Template.Spec.Containers {
		for _, arg := range c.Args {
			if arg == "--"+name {
				value = "true"
			}
			if v, found := strings.CutPrefix(arg, "--"+name+"="); found {
				value = strings.ReplaceAll(v, "$(RUNTIME_NAMESPACE)", d.Namespace)
			}
		}
	}
	return value
}

// gated reports whether a feature gate is set to true.
func (d deployment) gated(feature string) bool {
	return slices.Contains(strings.Split(d.flag("feature-gates"), ","), feature+"=true")
}

// version returns the tag of the image, empty for one that is named by its digest alone.
func (d deployment) version() (tag string) {
	for _, c := range d.Spec.Template.Spec.Containers {
		image, _, _ := strings.Cut(c.Image, "@")
		_, tag, _ = strings.Cut(image[strings.LastIndexByte(image, '/')+1:], ":")
	}
	return tag
}

var refusal = regexp.MustCompile(`cannot (\S+) resource "([^"]+)" in API group "([^"]*)"( in the namespace "[^"]*"| at the cluster scope)`)

// errAbsent reports that the cluster has no Deployment of Winnow.
var errAbsent = errors.New("no controller is found")

// unknownBecause returns why something is unknown, with the right that the API server misses; empty for an error that ends the run.
func unknownBecause(err error) string {
	found := refusal.FindStringSubmatch(fmt.Sprint(err))
	switch {
	case errors.Is(err, errAbsent):
		return err.Error()
	case !apierrors.IsForbidden(err):
		return ""
	case found == nil:
		return err.Error()
	}
	return fmt.Sprintf("it may not be read: you need the right to %s %s%s", found[1], strings.TrimSuffix(found[2]+"."+found[3], "."), found[4])
}

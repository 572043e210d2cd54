// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"slices"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/controllers/kinds"
)

// right allows verbs on the objects of a resource, on all if names is empty.
type right struct {
	group, resource string
	verbs           []string
	names           []string
}

// read returns the right to watch and read the objects of a resource.
func read(group, resource string) right {
	return right{group: group, resource: resource, verbs: []string{"get", "list", "watch"}}
}

func readKustomizations() right { return read(kustomizev1.GroupVersion.Group, "kustomizations") }

// mark returns the right to set and remove marks.
func mark(names ...string) right {
	return right{group: platformGroup, resource: "applicationdefinitions", verbs: []string{"patch"}, names: names}
}

// allow grants rights in the whole cluster to a user, and waits until the API server applies them.
func (c *liveCluster) allow(user string, rights ...right) {
	c.Helper()
	role := &rbacv1.ClusterRole{}
	role.GenerateName = c.namespace + "-"
	for _, r := range rights {
		role.Rules = append(role.Rules, rbacv1.PolicyRule{
			APIGroups: []string{r.group}, Resources: []string{r.resource}, Verbs: r.verbs, ResourceNames: r.names,
		})
	}
	if err := apiServer.Create(c.Context(), role); err != nil {
		c.Fatal(err)
	}
	binding := &rbacv1.ClusterRoleBinding{}
	binding.Name = role.Name
	binding.RoleRef = rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name}
	binding.Subjects = []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}}
	if err := apiServer.Create(c.Context(), binding); err != nil {
		c.Fatal(err)
	}
	for _, r := range rights {
		for _, verb := range r.verbs {
			c.await(user+" to be allowed to "+verb+" "+r.resource, func() bool { return c.may(user, verb, r) })
		}
	}
}

func (c *liveCluster) may(user, verb string, r right) bool {
	c.Helper()
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User:               user,
		ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: verb, Group: r.group, Resource: r.resource},
	}}
	if len(r.names) > 0 {
		review.Spec.ResourceAttributes.Name = r.names[0]
	}
	if err := apiServer.Create(c.Context(), review); err != nil {
		c.Fatal(err)
	}
	return review.Status.Allowed
}

// runAs makes the reconciler watch kinds and set marks as the ServiceAccount "controller", which has only these
// rights.
func (c *liveCluster) runAs(rights ...right) {
	c.Helper()
	config := c.configWith(rights...)
	reader, err := client.New(config, client.Options{Scheme: apiServer.Scheme(), Mapper: apiServer.RESTMapper()})
	if err != nil {
		c.Fatal(err)
	}
	c.watchBy(config, reader)
	c.actAs(config, "")
}

// markWithout makes the reconciler set marks as the ServiceAccount "controller", which has no right. The watches go on as they are.
func (c *liveCluster) markWithout() {
	c.Helper()
	c.actAs(c.configWith(), "")
}

// configWith returns the configuration of the ServiceAccount "controller", which has only these rights.
func (c *liveCluster) configWith(rights ...right) *rest.Config {
	c.Helper()
	const name = "controller"
	account := &corev1.ServiceAccount{}
	account.Name, account.Namespace = name, c.namespace
	if err := apiServer.Create(c.Context(), account); err != nil {
		c.Fatal(err)
	}
	request := &authenticationv1.TokenRequest{}
	if err := apiServer.SubResource("token").Create(c.Context(), account, request); err != nil {
		c.Fatal(err)
	}
	if len(rights) > 0 {
		c.allow(c.account(name), rights...)
	}
	config := rest.AnonymousClientConfig(restConfig)
	config.BearerToken = request.Status.Token
	return config
}

// watchBy makes the reconciler watch kinds with the configuration.
func (c *liveCluster) watchBy(config *rest.Config, reader client.Reader) {
	options := cache.Options{Scheme: apiServer.Scheme(), Mapper: apiServer.RESTMapper()}
	c.reconciler.cluster.Kinds = kinds.New(c.Context(), config, options, reader)
	c.reconciler.cluster.Kinds.Enqueue = c.reconciler.enqueue
}

// forbidden returns the number of events about missing rights since the last call.
func (c *liveCluster) forbidden() int {
	c.Helper()
	events := slices.DeleteFunc(c.events.take(), func(line string) bool {
		return line != "Warning MarksForbidden CatalogSelection"
	})
	return len(events)
}

// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/live"
	"github.com/winnow-dev/winnow/config"
	"github.com/winnow-dev/winnow/render/backend"
)

func (e *examiner) rights(ctx context.Context) error {
	served, err := live.Read[metav1.APIGroupList](ctx, e.Cluster, "/apis")
	if err != nil {
		return err
	}
	groups := map[string]bool{}
	for _, g := range served.Groups {
		groups[g.Name] = true
	}
	lacks, asked := map[need][]string{}, map[need]bool{}
	for _, d := range e.of["winnow"] {
		needs, err := e.needs(d, groups)
		if err != nil {
			return err
		}
		for _, n := range needs {
			if asked[n] {
				continue
			}
			asked[n] = true
			missing, err := e.missing(ctx, n)
			if err != nil {
				return err
			}
			if missing != "" {
				key := need{account: n.account, grants: n.grants}
				lacks[key] = append(lacks[key], missing)
			}
		}
	}
	for _, key := range slices.SortedFunc(maps.Keys(lacks), func(a, b need) int {
		return cmp.Or(cmp.Compare(a.account.String(), b.account.String()), cmp.Compare(a.grants, b.grants))
	}) {
		e.add(problem, "%s may not %s: %s", key.account, list(lacks[key]), key.grants)
	}
	e.fine("the controller has the rights that the selections need")
	return nil
}

// missing returns the verbs that an account lacks, with what they are about.
func (e *examiner) missing(ctx context.Context, n need) (string, error) {
	var verbs []string
	for verb := range strings.SplitSeq(n.verbs, ",") {
		n.right.Verb = verb
		allowed, err := e.Allows(ctx, n.account, n.right)
		if err != nil {
			return "", err
		}
		if !allowed {
			verbs = append(verbs, verb)
		}
	}
	if len(verbs) == 0 {
		return "", nil
	}
	return strings.Join(verbs, ", ") + " " + n.target(), nil
}

// needs returns the rights that a controller needs for the selections that it reconciles.
func (e *examiner) needs(d deployment, served map[string]bool) (all []need, err error) {
	account := types.NamespacedName{Namespace: d.Namespace, Name: cmp.Or(d.Spec.Template.Spec.ServiceAccountName, "default")}
	within := ""
	if d.flag("watch-all-namespaces") == "false" {
		within = d.Namespace
	}
	base, err := config.Rules("rbac")
	if err != nil {
		return nil, err
	}
	for _, rule := range base {
		all = append(all, expand(need{account: account, right: authorizationv1.ResourceAttributes{Namespace: within}, grants: config.GrantsRBAC}, rule)...)
	}
	marks, err := config.Rules("marks")
	if err != nil {
		return nil, err
	}
	for _, rule := range marks {
		rule.APIGroups = slices.DeleteFunc(slices.Clone(rule.APIGroups), func(group string) bool { return !served[group] })
		for _, s := range e.reconciledBy(d) {
			all = append(all, marking(s, cmp.Or(s.Spec.ServiceAccountName, d.flag("default-service-account")), account, rule)...)
		}
	}
	for _, r := range e.reaches {
		if d.reconciles(r.of) {
			all = append(all, r.needs(account)...)
		}
	}
	return all, nil
}

// expand returns a need for each resource of a rule.
func expand(like need, rule rbacv1.PolicyRule) (all []need) {
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			like.verbs, like.right.Group = strings.Join(rule.Verbs, ","), group
			like.right.Resource, like.right.Subresource, _ = strings.Cut(resource, "/")
			all = append(all, like)
		}
	}
	return all
}

// marking returns what a selection needs of a rule in config/marks: the controller reads, and the account as which it acts, if there is
// one, sets the marks.
func marking(s *v1alpha1.CatalogSelection, as string, account types.NamespacedName, rule rbacv1.PolicyRule) []need {
	ofDefinitions := slices.Contains(rule.Resources, "applicationdefinitions") && s.Spec.Definitions != v1alpha1.DefinitionsOmit
	switch {
	case len(rule.APIGroups) == 0 || !ofDefinitions && !slices.ContainsFunc(rule.Resources, func(r string) bool { return installs(s, r) }):
		return nil
	case !ofDefinitions || as == "":
		return expand(need{account: account, grants: config.GrantsMarks}, rule)
	}
	reads, patches := rule, rule
	reads.Verbs = slices.DeleteFunc(slices.Clone(rule.Verbs), func(verb string) bool { return verb == "patch" })
	patches.Verbs = []string{"patch"}
	impersonates := authorizationv1.ResourceAttributes{Resource: "serviceaccounts", Namespace: s.Namespace, Name: as}
	return slices.Concat(
		expand(need{account: account, grants: config.GrantsMarks}, reads),
		expand(need{account: types.NamespacedName{Namespace: s.Namespace, Name: as}, grants: config.GrantsAccount}, patches),
		[]need{{account, impersonates, "impersonate", config.GrantsImpersonation}},
	)
}

// installs reports whether the object of an instance of a selection is of the resource: all kinds of Cozystack are "*".
func installs(s *v1alpha1.CatalogSelection, resource string) bool {
	return slices.ContainsFunc(s.Status.Instances, func(i v1alpha1.InstanceStatus) bool {
		kind, _, _ := strings.Cut(i.Object, " ")
		return resource == strings.ToLower(kind)+"s" || resource == "*" && i.Backend == backend.CozystackApplication
	})
}

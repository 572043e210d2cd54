// SPDX-License-Identifier: Apache-2.0

// Package protection finds the protections that an edit of a CatalogSelection removes. It must not know catalogs, nor
// what the edit changes in the artifact.
package protection

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/transform"
)

// protection is a field of the spec with a value that protects.
type protection struct {
	field, protects string
	// value of a spec; empty for the default.
	value    func(*v1alpha1.CatalogSelectionSpec) string
	standard string
	effect   string
}

func protections() []protection {
	const hold, publish = v1alpha1.SafeguardHold, v1alpha1.SafeguardPublish
	type spec = v1alpha1.CatalogSelectionSpec
	return []protection{
		{"safeguards.onRemoval", hold, func(s *spec) string { return s.Safeguards.OnRemoval }, hold,
			"applications are removed without approval"},
		{"safeguards.onVersionRemoval", hold, func(s *spec) string { return s.Safeguards.OnVersionRemoval }, hold,
			"versions of applications are removed without approval"},
		{"safeguards.onIdentityChange", hold, func(s *spec) string { return s.Safeguards.OnIdentityChange }, hold,
			"a catalog may have other live releases meant, so that these are installed anew"},
		{"safeguards.onSourceChange", hold, func(s *spec) string { return s.Safeguards.OnSourceChange }, publish,
			"the same version from another chart, repository or commit is published without approval"},
		{"safeguards.onMajorUpgrade", hold, func(s *spec) string { return s.Safeguards.OnMajorUpgrade }, publish,
			"major upgrades are published without approval"},
		{"deletionPolicy", v1alpha1.DeletionPolicyOrphan, (*spec).GetDeletionPolicy, v1alpha1.DeletionPolicyOrphan,
			"Flux deletes the definitions that leave the selection"},
		{"cluster.bypass", v1alpha1.BypassHonor, func(s *spec) string { return s.Cluster.Bypass }, v1alpha1.BypassHonor,
			"Flux updates and deletes definitions that admins have bypassed"},
		{"cluster.serve", v1alpha1.ServeCompared, func(s *spec) string { return s.Cluster.Serve }, v1alpha1.ServeCompared,
			"a Kustomization gets the artifact before its inventory was compared, and may prune the rest"},
		{"requireMirrors", "true", func(s *spec) string { return strconv.FormatBool(s.RequireMirrors) }, "false",
			"hosts that no mirror covers are published"},
	}
}

// Loosen returns the protections that an edit removes, in the order of the specification. ofKKP is true if
// the selection has definitions of KKP, from which some fields are omitted by default.
func Loosen(from, to *v1alpha1.CatalogSelection, ofKKP bool) []diff.Loosened {
	l := loosened{}
	for _, p := range protections() {
		was, is := cmp.Or(p.value(&from.Spec), p.standard), cmp.Or(p.value(&to.Spec), p.standard)
		if was == p.protects && is != was {
			l.add(p.field, was, is, p.effect)
		}
	}
	l.unchecked(from.Spec.Platform, to.Spec.Platform)
	l.unheld(from.Spec.Safeguards.OnInstanceUpgrade, to.Spec.Safeguards.OnInstanceUpgrade)
	l.unlocked(from.Spec.Values, to.Spec.Values)
	l.unguarded(from.Spec.Instances, to.Spec.Instances)
	l.unserved(from.Spec.Push, to.Spec.Push)
	l.unpushed(from.Spec.Push, to.Spec.Push)
	l.unverified(from, to)
	l.unlimited(from, to)
	l.untrusted(from.Spec.Mirrors, to.Spec.Mirrors)
	l.unomitted(from.Spec.OmitFields, to.Spec.OmitFields, ofKKP)
	return l
}

// loosened collects the protections that an edit removes.
type loosened []diff.Loosened

// add adds the protection of a field below spec.
func (l *loosened) add(field, from, to, effect string) {
	*l = append(*l, diff.Loosened{Field: "spec." + field, From: from, To: to, Effect: effect})
}

// unchecked adds a protection for each component of the platform that the edit removes. Other versions of a
// component are an upgrade, and no loss of protection.
func (l *loosened) unchecked(from, to *v1alpha1.Platform) {
	if from == nil {
		return
	}
	if to == nil {
		to = &v1alpha1.Platform{}
	}
	for _, c := range []struct {
		field, name string
		was, is     []string
	}{{"kubernetes", "Kubernetes", from.Kubernetes, to.Kubernetes}, {"kkp", "KKP", from.KKP, to.KKP}} {
		if len(c.was) > 0 && len(c.is) == 0 {
			l.add("platform."+c.field, list(c.was), list(c.is), "versions are published that do not run on this "+c.name)
		}
	}
}

// unpushed adds a protection if clusters follow a repository, or tags, to which nothing is pushed any more.
func (l *loosened) unpushed(from, to *v1alpha1.Push) {
	const effect = "clusters that follow %s get no further revision"
	switch {
	case from == nil:
		return
	case to == nil:
		l.add("push", from.URL, "none", fmt.Sprintf(effect, from.URL))
		return
	case from.URL != to.URL:
		l.add("push.url", from.URL, to.URL, fmt.Sprintf(effect, from.URL))
	}
	was, is := tagsOf(from), tagsOf(to)
	gone := slices.DeleteFunc(slices.Clone(was), func(tag string) bool { return slices.Contains(is, tag) })
	if len(gone) > 0 {
		l.add("push.tags", list(was), list(is), fmt.Sprintf(effect, from.URL+":"+strings.Join(gone, ", :")))
	}
}

// tagsOf returns the tags of a push, with the default of the API.
func tagsOf(push *v1alpha1.Push) []string {
	if len(push.Tags) == 0 {
		return []string{"latest"}
	}
	return push.Tags
}

// unverified adds a protection for each source whose signature is no longer required: the source stays
// without requireVerified, or the edit replaces it by one without.
func (l *loosened) unverified(from, to *v1alpha1.CatalogSelection) {
	type key struct {
		kind, name, path string
		verified         bool
	}
	keys := func(cs *v1alpha1.CatalogSelection) (all []key) {
		for _, ref := range cs.Spec.Sources {
			kind, name := guard.SourceKey(cs, ref)
			all = append(all, key{kind, name.Name, ref.Path, ref.RequireVerified})
		}
		return all
	}
	before, after := keys(from), keys(to)
	adds := slices.ContainsFunc(after, func(k key) bool { return !k.verified && !slices.Contains(before, k) })
	for _, was := range before {
		if was.verified && adds && !slices.Contains(after, was) {
			l.add(fmt.Sprintf("sources[%s].requireVerified", was.name), "true", "false", "unsigned content is published")
		}
	}
}

// unlimited adds a protection for each source that stays in front of others, and whose limit is removed.
func (l *loosened) unlimited(from, to *v1alpha1.CatalogSelection) {
	type key struct {
		kind string
		name types.NamespacedName
		path string
	}
	keyOf := func(cs *v1alpha1.CatalogSelection, ref v1alpha1.SourceReference) key {
		kind, name := guard.SourceKey(cs, ref)
		return key{kind, name, ref.Path}
	}
	limited := map[key]bool{}
	for _, ref := range from.Spec.Sources {
		limited[keyOf(from, ref)] = limits(ref)
	}
	for i, ref := range to.Spec.Sources {
		if limited[keyOf(to, ref)] && !limits(ref) && i < len(to.Spec.Sources)-1 {
			l.add(fmt.Sprintf("sources[%s].limit", ref.Name), "set", "none",
				"all of its applications win over the same applications of later sources")
		}
	}
}

// untrusted adds a protection for each mirror from which charts are newly fetched without TLS, or from
// a server that is not verified.
func (l *loosened) untrusted(from, to []v1alpha1.Mirror) {
	helm := func(m v1alpha1.Mirror) v1alpha1.MirrorHelm {
		if m.Helm == nil {
			return v1alpha1.MirrorHelm{}
		}
		return *m.Helm
	}
	before := each.By(from, func(m v1alpha1.Mirror) string { return m.From })
	for _, m := range to {
		was, is := helm(before[m.From]), helm(m)
		field := fmt.Sprintf("mirrors[%s].helm.", m.From)
		if is.Insecure && !was.Insecure {
			l.add(field+"insecure", "false", "true", "charts are fetched from a server that is not verified")
		}
		if is.PlainHTTP && !was.PlainHTTP {
			l.add(field+"plainHTTP", "false", "true", "charts are fetched without TLS")
		}
	}
}

// limits reports whether the limit of a source refuses anything.
func limits(ref v1alpha1.SourceReference) bool {
	return ref.Limit != nil && !equality.Semantic.DeepEqual(*ref.Limit, v1alpha1.Limit{})
}

// unomitted adds a protection for the fields that the artifact begins to set.
func (l *loosened) unomitted(from, to []string, ofKKP bool) {
	was, is := omitted(from, ofKKP), omitted(to, ofKKP)
	var set []string
	for _, field := range was {
		covered := slices.ContainsFunc(is, func(other string) bool { return strings.HasPrefix(field+".", other+".") })
		if !covered {
			set = append(set, field)
		}
	}
	if len(set) > 0 {
		l.add("omitFields", list(was), list(is), "the catalog replaces what admins have set in "+strings.Join(set, ", "))
	}
}

// omitted returns the fields that a spec omits, with the default for definitions of KKP.
func omitted(fields []string, ofKKP bool) []string {
	if fields == nil && ofKKP {
		return transform.DefaultOmitFields()
	}
	return fields
}

func list(fields []string) string { return "[" + strings.Join(fields, ", ") + "]" }

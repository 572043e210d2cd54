// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/backend/cozystack"
	"github.com/winnow-dev/winnow/render/backend/draft"
	"github.com/winnow-dev/winnow/render/backend/field"
	"github.com/winnow-dev/winnow/render/definition"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/identity"
)

// releaseOfCozystack installs what Cozystack's API server would install, without that server. What differs is in
// docs/guides/cozystack.md.
func releaseOfCozystack(d *draft.Draft) {
	d.Unsupported("version")
	chosen := definition.BackendOf(d.Spec)
	helm := chosen.Part
	if chosen.Type != backend.Helm {
		d.Fault(identity.BackendType, "is %s: name that backend in the instance", excerpt.Quoted(chosen.Type))
		return
	}
	if !helm.IsSet() {
		helm.Fault("is missing")
		return
	}
	cozystack.CheckSchema(d)
	options := annotatedOptions(d)
	r := release{
		name: cozystack.Prefixed(d, helm), namespace: d.RunsIn(), labels: cozystack.Labels(d, helm), interval: cozystackInterval,
		timeout: d.Timeout, installTimeout: cmp.Or(d.Timeout, options.installTimeout, cozystackTimeout),
		upgradeTimeout: cmp.Or(d.Timeout, options.upgradeTimeout, options.installTimeout, cozystackTimeout),
		retryInterval:  cozystackRetryInterval, disableWait: options.disableWait, serverSide: options.serverSide,
		valuesFrom: helmReferences(cozystackValues(d, helm)),
		extra: map[string]any{
			"chartRef": helm.Get("chartRef").PickTexts("apiVersion", "kind", "name", "namespace"), "maxHistory": int64(cozystackHistory),
		},
	}
	setHealth(helm, r.extra)
	helm.Get("chartRef", "name").Required()
	if kind := helm.Get("chartRef", "kind").Required(); kind != "" && !slices.Contains([]string{"OCIRepository", "HelmChart", "ExternalArtifact"}, kind) {
		helm.Get("chartRef", "kind").Fault("%s must be OCIRepository, HelmChart or ExternalArtifact", excerpt.Quoted(kind))
	}
	if d.CreateNamespace != nil {
		d.AddNamespace(draft.Destination{Name: r.namespace, Create: *d.CreateNamespace})
	}
	addRelease(d, r)
}

// cozystackValues returns the references to values: the references that the definition lists, or else the Secret of the
// platform, and then the instance's. An instance that names that Secret decides on its place, and whether it may be missing.
func cozystackValues(d *draft.Draft, helm field.Field) []v1alpha1.ValuesReference {
	listed := helm.Get("valuesFrom")
	if listed.IsSet() {
		return append(references(listed), d.ValuesFrom...)
	}
	platform := v1alpha1.ValuesReference{Kind: "Secret", Name: cozystackSecret}
	if slices.ContainsFunc(d.ValuesFrom, func(r v1alpha1.ValuesReference) bool { return r.Kind == platform.Kind && r.Name == platform.Name }) {
		return d.ValuesFrom
	}
	return append([]v1alpha1.ValuesReference{platform}, d.ValuesFrom...)
}

// setHealth sets how a release is waited for. Expressions are evaluated by the poller alone.
func setHealth(f field.Field, release map[string]any) {
	strategy := f.Get("waitStrategy")
	name := strategy.Text()
	if !slices.Contains([]string{"", "poller", "legacy"}, name) {
		strategy.Fault("%s must be poller or legacy", excerpt.Quoted(name))
	}
	checks := healthChecks(f.Get("healthCheckExprs"))
	if name == "" && len(checks) > 0 {
		name = "poller"
	}
	if name != "" {
		release["waitStrategy"] = map[string]any{"name": name}
	}
	if len(checks) > 0 {
		release["healthCheckExprs"] = checks
	}
}

// references returns the references to values of a definition.
func references(f field.Field) []v1alpha1.ValuesReference {
	var all []v1alpha1.ValuesReference
	for _, item := range f.Items() {
		from := v1alpha1.ValuesReference{
			Kind: item.Get("kind").Text(), Name: item.Get("name").Text(), ValuesKey: item.Get("valuesKey").Text(),
			TargetPath: item.Get("targetPath").Text(), Literal: item.Get("literal").IsTrue(), Optional: item.Get("optional").IsTrue(),
		}
		item.Pick("kind", "name", "valuesKey", "targetPath", "literal", "optional")
		draft.CheckReference(from, func(path, format string, args ...any) { item.Get(path).Fault(format, args...) })
		all = append(all, from)
	}
	return all
}

// healthChecks returns expressions for the health of what a release installs.
func healthChecks(f field.Field) []any {
	var all []any
	for _, item := range f.Items() {
		all = append(all, item.PickTexts("apiVersion", "kind", "current", "failed", "inProgress"))
		for _, name := range []string{"apiVersion", "kind", "current"} {
			item.Get(name).Required()
		}
	}
	return all
}

// releaseOptions are what a definition of Cozystack states about its releases in annotations.
type releaseOptions struct {
	installTimeout, upgradeTimeout time.Duration
	disableWait                    bool
	// serverSide is nil for the default of helm-controller.
	serverSide *bool
}

// What Cozystack's API server writes by default, by flags of its own.
const (
	cozystackInterval      = 5 * time.Minute
	cozystackRetryInterval = 30 * time.Second
	cozystackTimeout       = 10 * time.Minute
	cozystackHistory       = 5
)

// cozystackSecret has the values of the platform and of the tenant: _cluster and _namespace, which many charts need.
const cozystackSecret = "cozystack-values"

const annotationPrefix = "release.cozystack.io/"

func annotatedOptions(d *draft.Draft) (options releaseOptions) {
	for _, name := range slices.Sorted(maps.Keys(d.Application.Annotations)) {
		option, isOption := strings.CutPrefix(name, annotationPrefix)
		if !isOption {
			continue
		}
		at := d.Field("metadata.annotations."+name, d.Application.Annotations[name])
		switch option {
		case "helm-install-timeout":
			options.installTimeout = at.Duration()
		case "helm-upgrade-timeout":
			options.upgradeTimeout = at.Duration()
		case "helm-install-disable-wait":
			is := flag(at, "true", "false")
			options.disableWait = is != nil && *is
		case "helm-server-side-apply":
			options.serverSide = flag(at, "true", "false", "enabled", "disabled")
		default:
			at.Fault("is not known here: the backend %s cannot do what it asks for", d.Backend)
		}
	}
	return options
}

// flag returns the boolean that an annotation says, in any case of the letters; nil for an empty one. Of the words, every
// second is a no.
func flag(f field.Field, words ...string) *bool {
	text := strings.ToLower(strings.TrimSpace(f.Text()))
	if text == "" {
		return nil
	}
	i := slices.Index(words, text)
	if i < 0 {
		f.Fault("must be \"%s\"", strings.Join(words, "\" or \""))
	}
	return new(i%2 == 0)
}

// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/value"
)

// shardingLabel selects the helm-controller that reconciles a release.
const shardingLabel = "sharding.fluxcd.io/key"

// compare compares a live release with the object of an artifact that would replace it. The error explains why it must
// not.
func (all objectsByKey) compare(c *candidate) (comparison, error) {
	built, ok := all[c.live.key()]
	if !ok {
		return comparison{}, errors.New("the artifact would not have its object")
	}
	if err := sameIdentity(c.live, built); err != nil {
		return comparison{}, err
	}
	if c.live.GetKind() == kinds.ApplicationInstallation.Kind {
		return compareInstallation(c, built)
	}
	source, err := all.sameSource(c, built)
	if err == nil {
		err = all.samePlan(c, built)
	}
	if err != nil {
		return comparison{}, err
	}
	patch := missing(c.live.spec().Mapping(), built.spec().Mapping(), append(changing(), "chart", "chartRef", "values", "valuesFrom", "dependsOn")...)
	keepStrategies(c.live, built, patch)
	defaults, _ := all.defaultsOf(built)
	return comparison{
		patch:   patchOf(c.live, built, patch),
		values:  differences("", c.values, backend.MergeValues(defaults, built.spec("values").Mapping())),
		isMoved: source.GetKind() != c.source.GetKind(),
	}, nil
}

// compareInstallation compares an ApplicationInstallation.
func compareInstallation(c *candidate, built object) (comparison, error) {
	if !reflect.DeepEqual(c.live.value("applicationRef"), built.value("applicationRef")) {
		return comparison{}, errors.New("the instance would install another version, or another application")
	}
	live, is := c.live.spec(), built.spec()
	patch := missing(live.Mapping(), is.Mapping(), "applicationRef", "values", "valuesBlock")
	for _, field := range []string{"namespace", "deployOptions"} {
		if extra := removal(is.Get(field).Mapping(), live.Get(field).Mapping()); len(extra) > 0 {
			added, _ := patch[field].(map[string]any)
			patch[field] = backend.MergeValues(extra, added)
		}
	}
	installed, _ := backend.DecodeValues([]byte(built.text("valuesBlock")))
	return comparison{patch: patchOf(c.live, built, patch), values: differences("", c.values, installed)}, nil
}

// sameIdentity returns why the object of the artifact is not the live one, with its release.
func sameIdentity(live, built object) error {
	was, is := live.identity(), built.identity()
	if was.Release.Chart == "" || is.Release.Chart == "" {
		was.Release.Chart, is.Release.Chart = "", "" // one of them is not known, and the sources were compared
	}
	if was == is {
		return nil
	}
	for _, field := range []struct{ name, was, is string }{
		{"release", was.Release.Name, is.Release.Name},
		{"storage namespace", was.Release.StorageNamespace, is.Release.StorageNamespace},
		{"target namespace", was.Release.TargetNamespace, is.Release.TargetNamespace},
		{"chart", was.Release.Chart, is.Release.Chart},
	} {
		if field.was != field.is {
			return fmt.Errorf("its %s is %s, and the instance would have %s", field.name, excerpt.Of(field.was), excerpt.Of(field.is))
		}
	}
	return errors.New("the object of the instance would be another one")
}

// sameSource returns the source of the artifact, or why it does not have the chart of the live one.
func (all objectsByKey) sameSource(c *candidate, built object) (object, error) {
	is, source, err := all.chartOf(built)
	if err != nil {
		return object{}, err
	}
	if !c.chart.is(is) {
		return object{}, fmt.Errorf("its chart is %s in the version %s, and the instance would have %s in the version %s",
			c.chart, excerpt.Of(c.chart.version), is, excerpt.Of(is.version))
	}
	// These fields decide whether Flux reaches the chart, and trusts it.
	for _, field := range []string{"secretRef", "certSecretRef", "proxySecretRef", "serviceAccountName", "provider", "insecure", "passCredentials", "verify"} {
		if !reflect.DeepEqual(orDefault(c.source.value(field)), orDefault(source.value(field))) {
			return object{}, fmt.Errorf("spec.%s of its source differs from the source of the instance: set mirrors[].flux, or patch the sources of the selection, and import it then", field)
		}
	}
	return source, nil
}

// orDefault returns nil for the values of a missing field.
func orDefault(value any) any {
	if value == nil || value == false || value == "generic" {
		return nil
	}
	return value
}

// samePlan returns why a patch of the selection has the object install something else.
func (all objectsByKey) samePlan(c *candidate, built object) error {
	for _, field := range changing() {
		if built.value(field) != nil {
			return fmt.Errorf("a patch of the selection sets spec.%s, which changes what is installed", field)
		}
	}
	var references []v1alpha1.ValuesReference
	if err := built.decode(&references, "valuesFrom"); err != nil {
		return err
	}
	if _, has := all.defaultsOf(built); has {
		references = references[1:]
	}
	if !slices.Equal(references, c.instance.ValuesFrom) || built.value("chart", "spec", "valuesFiles") != nil {
		return errors.New("a patch of the selection changes where its values come from")
	}
	return nil
}

// defaultsOf returns the default values that a release of the artifact takes from its ConfigMap. It reports false where
// the definition has none.
func (all objectsByKey) defaultsOf(built object) (values map[string]any, ok bool) {
	references := built.spec("valuesFrom").Items()
	if len(references) == 0 {
		return nil, false
	}
	defaults, ok := all[key{"ConfigMap", built.GetNamespace(), references[0].Get("name").Text()}]
	if !ok || references[0].Get("kind").Text() != "ConfigMap" {
		return nil, false
	}
	values, _ = backend.DecodeValues([]byte(value.Of(defaults.Object).Get("data", backend.DefaultsKey).Text()))
	return values, true
}

// missing returns the members of a mapping that another one lacks, or has differently, except members left out.
func missing(live, built map[string]any, leftOut ...string) map[string]any {
	lacking := map[string]any{}
	for name, value := range live {
		members, isMapping := value.(map[string]any)
		others, both := built[name].(map[string]any)
		switch {
		case slices.Contains(leftOut, name) || value == nil:
		case isMapping && (both || len(members) == 0):
			if rest := missing(members, others); len(rest) > 0 {
				lacking[name] = rest
			}
		case !same(value, built[name]) && !sameDuration(value, built[name]):
			lacking[name] = runtime.DeepCopyJSONValue(value)
		}
	}
	return lacking
}

// sameDuration reports whether two texts are the same duration, as 10m and 10m0s, or 0s and none.
func sameDuration(a, b any) bool {
	if b == nil {
		b = "0s"
	}
	x, isText := a.(string)
	y, both := b.(string)
	if !isText || !both {
		return false
	}
	first, err := time.ParseDuration(x)
	second, other := time.ParseDuration(y)
	return err == nil && other == nil && first == second
}

// keepStrategies adds to a patch what its remediation needs, and leaves out the strategy that would uninstall a release.
func keepStrategies(live, built object, patch map[string]any) {
	const remediate = "RemediateOnFailure"
	for _, action := range []string{"install", "upgrade"} {
		members, _ := patch[action].(map[string]any)
		delete(members, "chartNameChangeStrategy")
		needs := live.value(action, "remediation") != nil && live.value(action, "strategy") == nil
		if needs && built.text(action, "strategy", "name") != remediate {
			members = backend.MergeValues(members, map[string]any{"strategy": map[string]any{"name": remediate}})
			patch[action] = members
		}
		if len(members) == 0 {
			delete(patch, action)
		}
	}
}

// patchOf returns a patch of the spec, and of the label by which helm-controllers share releases; nil for nothing.
func patchOf(live, built object, spec map[string]any) map[string]any {
	patch := map[string]any{}
	if len(spec) > 0 {
		patch["spec"] = spec
	}
	if shard := live.GetLabels()[shardingLabel]; shard != built.GetLabels()[shardingLabel] && shard != "" {
		patch["metadata"] = map[string]any{"labels": map[string]any{shardingLabel: shard}}
	}
	if len(patch) == 0 {
		return nil
	}
	return patch
}

// removal returns the members of a mapping that another one lacks, with null for what a patch removes.
func removal(built, live map[string]any) map[string]any {
	removed := map[string]any{}
	for name, value := range built {
		other, isSet := live[name]
		members, isMapping := value.(map[string]any)
		others, both := other.(map[string]any)
		switch {
		case !isSet && value != false:
			removed[name] = nil
		case isMapping && both:
			if rest := removal(members, others); len(rest) > 0 {
				removed[name] = rest
			}
		}
	}
	return removed
}

// fieldsOf lists the fields that a patch sets, for a message.
func fieldsOf(patch map[string]any) string {
	var names []string
	for part, members := range patch {
		for name := range members.(map[string]any) {
			names = append(names, part+"."+name)
		}
	}
	slices.Sort(names)
	return excerpt.Names(names, maxNamed)
}

// warnOfChanges warns of what the last comparison found.
func (c *candidate) warnOfChanges() {
	if len(c.found.values) > 0 {
		unless := ""
		if len(c.instance.ValuesFrom) > 0 {
			unless = ", unless its valuesFrom has them"
		}
		c.warn("the definition changes its values %s%s", listPaths(c.found.values), unless)
	}
	if c.found.isMoved {
		c.warn("its chart comes through an OCIRepository now: helm-controller adds the digest to the version of the chart, and upgrades the release once")
	}
}

// SPDX-License-Identifier: Apache-2.0

package comparing

import (
	"slices"

	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/selection"
)

// notices are the deprecations and the hosts without a mirror of both sides, by application.
type notices struct {
	older, newer map[string]notice
}

type notice struct {
	deprecated string
	versions   []diff.DeprecatedVersion
	addresses  render.Addresses
}

func noticesOf(result *render.Result) map[string]notice {
	all := map[string]notice{}
	for _, decision := range result.Selection.Applications() {
		all[decision.Application.Name] = notice{deprecated: decision.Application.Metadata.Deprecated, versions: deprecatedVersions(decision)}
	}
	for _, addresses := range result.Addresses {
		one := all[addresses.Application]
		one.addresses = addresses
		all[addresses.Application] = one
	}
	return all
}

func deprecatedVersions(d selection.Decision) []diff.DeprecatedVersion {
	var all []diff.DeprecatedVersion
	for _, version := range d.Versions {
		facts := d.Application.Metadata.Versions.Of(version)
		if facts.Deprecated != "" {
			all = append(all, diff.DeprecatedVersion{Version: version, Number: facts.Label, Message: facts.Deprecated})
		}
	}
	return all
}

// retiring returns the deprecated applications, and versions of others.
func retiring(result *render.Result) (all []diff.Withdrawal) {
	for _, decision := range result.Selection.Applications() {
		of := diff.Application{Name: decision.Application.Name, APIVersion: decision.Application.Group + "/", Kind: decision.Application.Kind}
		if message := decision.Application.Metadata.Deprecated; message != "" {
			all = append(all, diff.Withdrawal{Application: of, Deprecated: message})
			continue
		}
		for _, v := range deprecatedVersions(decision) {
			all = append(all, diff.Withdrawal{Application: of, Version: v.Version, Deprecated: v.Message})
		}
	}
	return all
}

// set adds the new notices to an application, and reports whether there are any.
func (n notices) set(a *diff.Application) bool {
	before, after := n.older[a.Name], n.newer[a.Name]
	if before.deprecated == "" {
		a.Deprecated = after.deprecated
	}
	was := each.Map(before.versions, func(v diff.DeprecatedVersion) string { return v.Version })
	a.DeprecatedVersions = each.Where(after.versions, func(v diff.DeprecatedVersion) bool { return !slices.Contains(was, v.Version) })
	if before.addresses.Unreadable == "" {
		a.Unsearched = after.addresses.Unreadable
	}
	known := map[string]bool{}
	for _, host := range before.addresses.Uncovered() {
		known[string(host.Kind)+" "+host.Host] = true
	}
	a.Unmirrored = []diff.Host{}
	for _, host := range after.addresses.Uncovered() {
		if id := string(host.Kind) + " " + host.Host; !known[id] {
			known[id] = true
			a.Unmirrored = append(a.Unmirrored, diff.Host{Host: host.Host, Kind: string(host.Kind), Path: host.Path})
		}
	}
	return a.Deprecated != "" || len(a.DeprecatedVersions) > 0 || a.Unsearched != "" || len(a.Unmirrored) > 0
}

// SPDX-License-Identifier: Apache-2.0

// Package monitoring finds what a selection takes from the monitoring of KKP's user clusters. It must not know files or clusters.
package monitoring

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/render/selection/numbered"
)

// Loss is a definition that a selection leaves out, or lowers, although the monitoring of user clusters is installed from it.
type Loss struct {
	// Field of the selection that it is about.
	Field string
	// Message for people.
	Message string
}

// since names what installs the definitions, and when: at each reconciliation of a user cluster with monitoring, by their names
// (kubermatic#15900).
const since = "KKP since 2.31 installs the monitoring of user clusters from the definition with this name"

// Losses returns the losses of a selection.
func Losses(spec *v1alpha1.CatalogSelectionSpec, result selection.Result) []Loss {
	if spec.Definitions == v1alpha1.DefinitionsOmit {
		return nil
	}
	var all []Loss
	for i, d := range result.Decisions {
		a := d.Application
		if a.Group != kinds.KKPGroup || a.Name != "node-exporter" && a.Name != "kube-state-metrics" {
			continue
		}
		if i > 0 && result.Decisions[i-1].Application.Name == a.Name {
			continue // the first decision on a name counts
		}
		offered, kept := installed(a.DefaultVersion, a.Versions), installed(a.DefaultVersion, d.Versions)
		v := numbered.Of([]string{offered, kept})
		switch {
		case !d.Selected:
			field := "spec." + strings.Replace(d.Rule, "[]", fmt.Sprintf("[%d]", d.Index), 1)
			all = append(all, Loss{field, fmt.Sprintf("%s is left out (%s): %s, and skips it without one", a.Name, d.Reason, since)})
		case numbered.Descending(v[0], v[1]) < 0:
			all = append(all, Loss{"spec.versions", fmt.Sprintf("%s is lowered from %s to %s: %s, in its default version, or else the highest",
				a.Name, excerpt.Of(offered), excerpt.Of(kept), since)})
		}
	}
	return all
}

// installed returns the version that KKP installs: the default version, or else the one that it prefers.
func installed(defaultVersion string, versions []string) string {
	if slices.Contains(versions, defaultVersion) || len(versions) == 0 {
		return defaultVersion
	}
	return numbered.Preferred(versions).Text
}

// Sentences returns the messages of losses that others do not have.
func Sentences(losses, others []Loss) []string {
	fresh := each.Where(losses, func(l Loss) bool { return !slices.Contains(others, l) })
	return each.Map(fresh, func(l Loss) string { return l.Message })
}

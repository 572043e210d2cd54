// SPDX-License-Identifier: Apache-2.0

package render

import (
	"errors"
	"fmt"
	"strings"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/options"
	"github.com/winnow-dev/winnow/render/refusal"
	"github.com/winnow-dev/winnow/render/selection"
)

// allMirrored returns an error for what has no mirror, where the options require one.
func allMirrored(documents []document, contents []selection.Decision, opts options.Options) error {
	if !opts.RequireMirrors {
		return nil
	}
	return errors.Join(unmirrored(documents), unmirrorable(contents))
}

// unmirrorable refuses contents where every address has to have a mirror: mirrors do not change their bytes.
func unmirrorable(contents []selection.Decision) error {
	var found []error
	for _, d := range contents {
		found = append(found, fmt.Errorf("application %s: mirrors do not rewrite what is no object of Kubernetes: configure a mirror of images in the cluster, and leave out requireMirrors",
			d.Application.Name))
	}
	return refusal.OfSpec("spec.requireMirrors", found)
}

// unmirrored refuses documents that fetch from a host which no mirror covers. URLs inside of values are
// not counted, because they may never be fetched.
func unmirrored(documents []document) error {
	var found []error
	for _, d := range documents {
		if d.Unreadable != "" {
			found = append(found, fmt.Errorf("%s: its default values cannot be searched: %s", d.name, d.Unreadable))
		}
		for _, host := range d.Uncovered() {
			found = append(found, fmt.Errorf("%s: %s at %s", d.name, host.Host, host.Path))
		}
	}
	if len(found) == 0 {
		return nil
	}
	return &refusal.Error{Code: v1alpha1.InvalidSpecReason, Field: "spec.mirrors",
		Err: fmt.Errorf("requireMirrors: no mirror covers %s", strings.ReplaceAll(refusal.Join(found).Error(), "\n", "; "))}
}

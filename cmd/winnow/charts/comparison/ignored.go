// SPDX-License-Identifier: Apache-2.0

package comparison

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/charts/upgrades"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// ignored maps an application and a rule to the reason for which the rule is ignored.
type ignored map[[2]string]string

// ErrAnnotation is the error of an annotation of the newer selection that is no list of ignored rules.
var ErrAnnotation = errors.New("annotation " + v1alpha1.IgnoreRisksAnnotation)

// maxReason bounds a reason, in bytes.
const maxReason = 500

// readIgnored reads the annotation of a selection, which is nil for a catalog: a line for each rule of an application. All
// problems are in the error.
func readIgnored(cs *v1alpha1.CatalogSelection) (ignored, error) {
	all := ignored{}
	if cs == nil {
		return all, nil
	}
	var problems []error
	for line := range strings.Lines(cs.Annotations[v1alpha1.IgnoreRisksAnnotation]) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		names, reason, _ := strings.Cut(line, ":")
		fields := strings.Fields(names)
		reason = strings.TrimSpace(reason)
		switch {
		case len(fields) != 2:
			problems = append(problems, fmt.Errorf("%s: want APPLICATION RULE: REASON", excerpt.Quoted(strings.TrimSpace(line))))
		case !slices.Contains(upgrades.Rules(), fields[1]):
			problems = append(problems, fmt.Errorf("%s is no rule: want one of %s", excerpt.Quoted(fields[1]), excerpt.Names(upgrades.Rules(), 10)))
		case reason == "":
			problems = append(problems, fmt.Errorf("%s ignores %s without a reason: write it behind a colon", excerpt.Quoted(fields[0]), fields[1]))
		default:
			all[[2]string{fields[0], fields[1]}] = excerpt.To(reason, maxReason)
		}
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("%w of %s: %w", ErrAnnotation, cs.Name, errors.Join(problems...))
	}
	return all, nil
}

// newlyIgnored returns what the change itself begins to ignore: it must not silence a check unseen.
func newlyIgnored(from *v1alpha1.CatalogSelection, all ignored) (loosened []diff.Loosened) {
	before, _ := readIgnored(from) // an invalid one ignores nothing
	for key, reason := range all {
		if _, known := before[key]; !known {
			loosened = append(loosened, diff.Loosened{
				Field: v1alpha1.IgnoreRisksAnnotation, From: diff.JSON(nil), To: diff.JSON(strings.Join(key[:], " ") + ": " + reason),
				Effect: "--fail-on risk passes over what the rule finds in the application",
			})
		}
	}
	slices.SortFunc(loosened, func(a, b diff.Loosened) int { return strings.Compare(a.To, b.To) })
	return loosened
}

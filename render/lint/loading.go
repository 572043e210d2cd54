// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"cmp"

	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/violation"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/lint/corpus"
	"github.com/winnow-dev/winnow/render/lint/rules"
)

// Rules that package catalog checks when it loads a catalog.
const (
	formatRule      = "catalog/format"
	duplicateRule   = "catalog/duplicate-name"
	unknownRule     = "catalog/unknown-application"
	versionsRule    = "kkp/versions-unique"
	kindRule        = "cozystack/duplicate-kind"
	loadingSeverity = rules.Error // a catalog with a violation is refused as a whole
)

func loadingRules() []rules.Rule {
	return []rules.Rule{
		rules.New(formatRule, loadingSeverity, "the catalog has one of the formats"),
		rules.New(duplicateRule, loadingSeverity, "no two applications have one name"),
		rules.New(unknownRule, loadingSeverity, "a list of catalogs/ names applications that exist"),
		rules.New(versionsRule, loadingSeverity, "no version is listed twice"),
		rules.New(kindRule, loadingSeverity, "no two applications of Cozystack have one spec.application.kind"),
	}
}

// violations turns what makes a catalog invalid into findings.
func violations(invalid *violation.InvalidError, c *corpus.Corpus) []rules.Finding {
	if invalid == nil {
		return nil
	}
	byFile := make(map[string][]*corpus.Definition, len(c.Definitions))
	for _, d := range c.Definitions {
		for _, file := range []string{d.Path, d.MetadataPath} {
			byFile[file] = append(byFile[file], d)
		}
	}
	var found []rules.Finding
	for _, v := range invalid.Violations {
		d := &corpus.Definition{}
		for _, in := range byFile[v.Path] {
			if in.Above == 0 || in.Above < v.Line {
				d = in
			}
		}
		found = append(found, rules.Finding{Rule: violated(v, d), Severity: loadingSeverity, Path: v.Path, Line: v.Line,
			Application: d.Name, Message: v.Message})
	}
	return found
}

// violated maps a violation to its rule.
func violated(v violation.Violation, d *corpus.Definition) string {
	if v.Rule == violation.RuleDuplicateVersion && d.Group == kinds.KKPGroup {
		return versionsRule
	}
	return cmp.Or(map[violation.Rule]string{
		violation.RuleDuplicateName:      duplicateRule,
		violation.RuleUnknownApplication: unknownRule,
		violation.RuleDuplicateKind:      kindRule,
	}[v.Rule], formatRule)
}

const functionRule = "functions/incomplete"

// incomplete returns what a catalog, nil if it is invalid, should say and does not.
func incomplete(loaded *catalog.Catalog, strict bool) []rules.Finding {
	if loaded == nil {
		return nil
	}
	severity := rules.Warning
	if strict {
		severity = rules.Error
	}
	return each.Map(loaded.Warnings, func(w violation.Violation) rules.Finding {
		return rules.Finding{Rule: functionRule, Severity: severity, Path: w.Path, Line: w.Line, Message: w.Message}
	})
}

// contentsOf returns the number of applications that are no objects.
func contentsOf(loaded *catalog.Catalog) int {
	if loaded == nil {
		return 0
	}
	return len(each.Where(loaded.Applications, func(a *catalog.Application) bool { return !a.IsObject() }))
}

package lint

import "github.com/winnow-dev/winnow/render/catalog/violation"

// Rules that package catalog checks when it loads a catalog.
const (
	formatRule      = "catalog/format"
	duplicateRule   = "catalog/duplicate-name"
	unknownRule     = "catalog/unknown-application"
	versionsRule    = "kkp/versions-unique"
	kindRule        = "cozystack/duplicate-kind"
	loadingSeverity = Error // a catalog with a violation is refused as a whole
)

func loadingRules() []Rule {
	return []Rule{
		{formatRule, loadingSeverity, "the catalog has one of the formats"},
		{duplicateRule, loadingSeverity, "no two applications have one name"},
		{unknownRule, loadingSeverity, "a list of catalogs/ names applications that exist"},
		{versionsRule, loadingSeverity, "no version is listed twice"},
		{kindRule, loadingSeverity, "no two applications of Cozystack have one spec.application.kind"},
	}
}

// violations turns what makes a catalog invalid into findings.
func violations(invalid *violation.InvalidError, c *corpus) []Finding {
	if invalid == nil {
		return nil
	}
	byFile := make(map[string][]*definition, len(c.definitions))
	for _, d := range c.definitions {
		for _, file := range []string{d.path, d.metadataPath} {
			byFile[file] = append(byFile[file], d)
		}
	}
	var found []Finding
	for _, v := range invalid.Violations {
		d := &definition{}
		for _, in := range byFile[v.Path] {
			if in.above == 0 || in.above < v.Line {
				d = in
			}
		}
		found = append(found, Finding{Rule: violated(v, d), Severity: loadingSeverity, Path: v.Path, Line: v.Line,
			Application: d.name, Message: v.Message})
	}
	return found
}

// violated maps a violation to its rule.
func violated(v violation.Violation, d *definition) string {
	switch {
	case v.Rule == violation.RuleDuplicateName:
		return duplicateRule
	case v.Rule == violation.RuleUnknownApplication:
		return unknownRule
	case v.Rule == violation.RuleDuplicateKind:
		return kindRule
	case v.Rule == violation.RuleDuplicateVersion && d.group == kkpGroup:
		return versionsRule
	}
	return formatRule
}

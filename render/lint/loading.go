package lint

import (
	"path"
	"regexp"

	"github.com/winnow-dev/winnow/render/catalog"
)

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
		{formatRule, loadingSeverity, "the catalog has the Applications format"},
		{duplicateRule, loadingSeverity, "no two applications have one name"},
		{unknownRule, loadingSeverity, "a list of catalogs/ names applications that exist"},
		{versionsRule, loadingSeverity, "no version is listed twice"},
		{kindRule, loadingSeverity, "no two applications of Cozystack have one spec.application.kind"},
	}
}

// Messages of package catalog that have a rule of their own; everything else is its format.
var (
	duplicateMessage = regexp.MustCompile(`^metadata\.name ".*" is taken by `)
	unknownMessage   = regexp.MustCompile(`^applications has ".*", which no application\.yaml defines$`)
	kindMessage      = regexp.MustCompile(`^spec\.application\.kind ".*" is taken by `)
	versionsMessage  = regexp.MustCompile(`^spec\.versions has ".*" twice, `)
)

// violations turns what makes a catalog invalid into findings.
func violations(invalid *catalog.InvalidError, c *corpus) []Finding {
	if invalid == nil {
		return nil
	}
	byDirectory := make(map[string]*definition, len(c.definitions))
	for _, d := range c.definitions {
		byDirectory[path.Dir(d.path)] = d
	}
	var found []Finding
	for _, v := range invalid.Violations {
		d := byDirectory[path.Dir(v.Path)]
		if d == nil {
			d = &definition{}
		}
		found = append(found, Finding{Rule: violated(v, d), Severity: loadingSeverity, Path: v.Path, Line: v.Line,
			Application: d.name, Message: v.Message})
	}
	return found
}

func violated(v catalog.Violation, d *definition) string {
	switch {
	case duplicateMessage.MatchString(v.Message):
		return duplicateRule
	case unknownMessage.MatchString(v.Message):
		return unknownRule
	case kindMessage.MatchString(v.Message):
		return kindRule
	case d.group == kkpGroup && versionsMessage.MatchString(v.Message):
		return versionsRule
	}
	return formatRule
}

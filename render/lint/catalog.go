package lint

import (
	"cmp"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/render/catalog/metadata"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/spelling"
)

// corpusRule is a rule on all applications together, of any kind.
type corpusRule struct {
	Rule
	check func(*corpus, reportAt)
}

// reportAt adds a finding on an application in a line of one of its files.
type reportAt func(d *definition, path string, line int, format string, args ...any)

// corpusRules are those on metadata.yaml, and those that compare applications.
func corpusRules() []corpusRule {
	return []corpusRule{
		{Rule{"catalog/metadata-missing", Warning, "every application has a metadata.yaml"}, metadataMissing},
		{Rule{"catalog/tier-missing", Warning, "every metadata.yaml has a tier"}, tierMissing},
		{Rule{"catalog/tier-spelling", Warning, "a tier is spelt in one way"}, tierSpelling},
		{Rule{"catalog/misspelt-key", Error, "no key of a metadata.yaml is misspelt"}, misspeltKey},
		{Rule{"catalog/unknown-version", Warning, "a metadata.yaml describes versions that the application has"}, unknownVersion},
		{Rule{"catalog/unchecked-requirement", Warning, "a version requires what selections can list"}, uncheckedRequirement},
		{Rule{"catalog/deprecated", Info, "the application is not deprecated"}, deprecated},
	}
}

func metadataMissing(c *corpus, report reportAt) {
	for _, d := range c.definitions {
		if d.metadataPath != "" && !d.hasMetadata && d.root.isSet() {
			report(d, d.metadataPath, 0, "is missing: no tier or label selects the application")
		}
	}
}

func tierMissing(c *corpus, report reportAt) {
	for _, d := range c.definitions {
		tier := d.metadata.get("tier")
		if d.metadata.isSet() && (!tier.isSet() || tier.text() == "" && tier.node.ShortTag() == "!!str") {
			report(d, d.metadataPath, tier.line, "tier is missing: limit.metadataSelector.tierRefs never selects the application")
		}
	}
}

// metadataKeys are those of a metadata.yaml that mean something. Others are for expressions.
func metadataKeys() []string {
	return []string{"annotations", "deprecated", "labels", "tier", metadata.VersionsKey}
}

// misspeltKey finds what silently takes an application out of selections, which uninstalls it.
func misspeltKey(c *corpus, report reportAt) {
	for _, d := range c.definitions {
		for _, key := range d.metadata.members() {
			meant := spelling.Typo(key.name, metadataKeys())
			if meant == "" || meant == key.name || meant == metadata.VersionsKey && !meantAsVersions(key) {
				continue
			}
			report(d, d.metadataPath, key.line, "%s is a key that only expressions can read: did you mean %s?", quote(key.name), meant)
		}
		misspeltFact(d, report)
	}
}

// tierSpelling reports the rarer spellings of what is one tier without regard to case; of those
// that are equally frequent, the one without spaces and then lower case is right.
func tierSpelling(c *corpus, report reportAt) {
	spellings := map[string]map[string]int{}
	for _, d := range c.definitions {
		tier := d.metadata.get("tier").text()
		if spellings[fold(tier)] == nil {
			spellings[fold(tier)] = map[string]int{}
		}
		spellings[fold(tier)][tier]++
	}
	for _, d := range c.definitions {
		tier := d.metadata.get("tier")
		if usual := mostFrequent(spellings[fold(tier.text())]); tier.text() != usual {
			report(d, d.metadataPath, tier.line, "tier %s is spelt %s elsewhere: case matters", quote(tier.text()), quote(usual))
		}
	}
}

func fold(tier string) string { return strings.ToLower(strings.TrimSpace(tier)) }

func mostFrequent(counts map[string]int) string {
	var all []string
	for spelling := range counts {
		all = append(all, spelling)
	}
	return slices.MaxFunc(all, func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[a], counts[b]), cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
}

func deprecated(c *corpus, report reportAt) {
	for _, d := range c.definitions {
		if message := d.metadata.get("deprecated"); message.text() != "" {
			report(d, d.metadataPath, message.line, "is deprecated: %s", excerpt.Of(message.text()))
		}
	}
}

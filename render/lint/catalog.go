// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/catalog/metadata"
	"github.com/winnow-dev/winnow/render/definition"
	"github.com/winnow-dev/winnow/render/dialect"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/lint/corpus"
	"github.com/winnow-dev/winnow/render/lint/field"
	"github.com/winnow-dev/winnow/render/lint/rules"
	"github.com/winnow-dev/winnow/render/spelling"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// corpusRule is a rule on all applications together, of any kind.
type corpusRule = rules.Checked[func(*corpus.Corpus, corpus.Report)]

// corpusRules are those on metadata.yaml, and those that compare applications.
func corpusRules() []corpusRule {
	return []corpusRule{
		rules.NewChecked("catalog/metadata-missing", rules.Warning, "every application has a metadata.yaml", ofEach(metadataMissing)),
		rules.NewChecked("catalog/tier-missing", rules.Warning, "every metadata.yaml has a tier", ofEach(tierMissing)),
		rules.NewChecked("catalog/tier-spelling", rules.Warning, "a tier is spelt in one way", tierSpelling),
		rules.NewChecked("catalog/misspelt-key", rules.Error, "no key of a metadata.yaml is misspelt", ofEach(misspeltKey)),
		rules.NewChecked("catalog/unknown-locked-value", rules.Warning, "a locked value is among the default values", ofEach(unknownLockedValue)),
		rules.NewChecked("catalog/unknown-version", rules.Warning, "a metadata.yaml describes versions that the application has", ofEach(unknownVersion)),
		rules.NewChecked("catalog/unchecked-requirement", rules.Warning, "a version requires what selections can list", ofEach(uncheckedRequirement)),
		rules.NewChecked("catalog/readers-differ", rules.Warning, "all readers of YAML read the same values", ofEach(readersDiffer)),
		rules.NewChecked("catalog/deprecated", rules.Info, "the application is not deprecated", ofEach(deprecated)),
	}
}

// ofEach makes a rule on one definition a rule on all of them.
func ofEach(check func(d *corpus.Definition, report corpus.Report)) func(*corpus.Corpus, corpus.Report) {
	return func(c *corpus.Corpus, report corpus.Report) {
		for _, d := range c.Definitions {
			check(d, report)
		}
	}
}

func metadataMissing(d *corpus.Definition, report corpus.Report) {
	if d.MetadataPath != "" && !d.HasMetadata && d.Root.IsSet() {
		report(d, d.MetadataPath, 0, "is missing: no tier or label selects the application; if it is a symbolic link, which Flux drops, store the file itself")
	}
}

func tierMissing(d *corpus.Definition, report corpus.Report) {
	tier := d.Metadata.Get("tier")
	if d.Metadata.IsSet() && (!tier.IsSet() || tier.Text() == "" && tier.Node.ShortTag() == "!!str") {
		report(d, d.MetadataPath, tier.Line, "tier is missing: limit.metadataSelector.tierRefs never selects the application")
	}
}

// metadataKeys are the keys of a metadata.yaml that mean something. Others are for expressions.
func metadataKeys() []string {
	return []string{"annotations", "deprecated", "labels", metadata.LockedKey, "tier", metadata.VersionsKey}
}

// misspeltKey finds what silently takes an application out of selections, which uninstalls it.
func misspeltKey(d *corpus.Definition, report corpus.Report) {
	for _, key := range d.Metadata.Members() {
		meant := spelling.Typo(key.Name, metadataKeys())
		if meant == "" || meant == key.Name || meant == metadata.VersionsKey && !meantAsVersions(key) {
			continue
		}
		report(d, d.MetadataPath, key.Line, "%s is a key that only expressions can read: did you mean %s?", excerpt.Quoted(key.Name), meant)
	}
	misspeltFact(d, report)
}

// tierSpelling reports the rarer spellings of what is one tier without regard to case; of those
// that are equally frequent, the one without spaces and then lower case is right.
func tierSpelling(c *corpus.Corpus, report corpus.Report) {
	spellings := map[string]map[string]int{}
	for _, d := range c.Definitions {
		tier := d.Metadata.Get("tier").Text()
		if spellings[fold(tier)] == nil {
			spellings[fold(tier)] = map[string]int{}
		}
		spellings[fold(tier)][tier]++
	}
	for _, d := range c.Definitions {
		tier := d.Metadata.Get("tier")
		if usual := mostFrequent(spellings[fold(tier.Text())]); tier.Text() != usual {
			report(d, d.MetadataPath, tier.Line, "tier %s is spelt %s elsewhere: case matters", excerpt.Quoted(tier.Text()), excerpt.Quoted(usual))
		}
	}
}

func fold(tier string) string { return strings.ToLower(strings.TrimSpace(tier)) }

func mostFrequent(counts map[string]int) string {
	return slices.MaxFunc(slices.Collect(maps.Keys(counts)), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[a], counts[b]), cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
}

func deprecated(d *corpus.Definition, report corpus.Report) {
	if message := d.Metadata.Get("deprecated"); message.Text() != "" {
		report(d, d.MetadataPath, message.Line, "is deprecated: %s", excerpt.Of(message.Text()))
	}
}

// readersDiffer reports of what readers of a definition read different values. The readers of default values that are a text agree.
func readersDiffer(d *corpus.Definition, report corpus.Report) {
	dialect.Differences(d.Root.Node, func(line int, format string, args ...any) {
		report(d, d.Path, line, "%s", fmt.Sprintf(format, args...))
	})
}

// unknownLockedValue reports locked values that the default values do not have: they may be misspelt, and a default value of
// the chart itself is compared with nothing.
func unknownLockedValue(d *corpus.Definition, report corpus.Report) {
	locked := d.Metadata.Get(metadata.LockedKey).Items()
	for _, version := range factsOfVersions(d) {
		locked = append(locked, version.Get(metadata.LockedKey).Items()...)
	}
	values, ok := defaultValues(d)
	if len(locked) == 0 || !ok {
		return
	}
	for _, at := range locked {
		path, err := metadata.ParseValuePath(at.Text())
		if err != nil {
			continue // the catalog is invalid
		}
		if advice, isKnown := lookUp(values, path); !isKnown {
			report(d, d.MetadataPath, at.Line, "%s has %s, which the default values do not have, so that a change of the chart's own default value is not noticed%s",
				metadata.LockedKey, excerpt.Quoted(at.Text()), advice)
		}
	}
}

// defaultValues returns the default values of a definition of KKP, which may be none; not ok for others, or if it cannot read them.
func defaultValues(d *corpus.Definition) (values field.Field, ok bool) {
	_, at, block := definition.DefaultValues(d.Root.Get("spec"))
	document, err := dialect.Values([]byte(block))
	switch {
	case d.Group != kinds.KKPGroup || err != nil:
		return field.Field{}, false
	case document == nil:
		return at, true
	}
	return field.Root(document.Content[0]), true
}

// lookUp reports whether values have a path, and otherwise what may be meant.
func lookUp(values field.Field, path metadata.ValuePath) (advice string, isKnown bool) {
	at := values.Node
	for i, name := range path {
		found, ok := yamlnode.Find(at, name)
		if !ok {
			names := each.Map(yamlnode.Entries(at), func(member yamlnode.Entry) string { return member.Name })
			if near := spelling.Typo(name, names); near != "" {
				return ": did you mean " + excerpt.Quoted(slices.Concat(path[:i], metadata.ValuePath{near}).String()) + "?", false
			}
			return "", false
		}
		at = found.Value
	}
	return "", true
}

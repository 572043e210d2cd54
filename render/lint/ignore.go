// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"bytes"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/render/catalog/filebased"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/lint/corpus"
	"github.com/winnow-dev/winnow/render/lint/rules"
	"github.com/winnow-dev/winnow/render/spelling"
)

// directive is a comment that leaves out the findings of rules.
var directive = regexp.MustCompile(`(?:^|\s)#\s*winnow:ignore(?:\s+(.*))?$`)

// directives are the rules that the comments of a file name, by line. Line 0 stands for all lines.
type directives map[int][]string

// reportLine adds a finding in a line of a file.
type reportLine func(line int, format string, args ...any)

// maxDirectives are read of a file, which is untrusted.
const maxDirectives = 100

// ignoredIn reads the comments
//
//	# winnow:ignore RULE[,RULE...] [reason]
//
// of a file. One behind a value is for its line, one in a line of its own for the next line that is no
// comment, and one above everything else for the whole file. The text is not parsed, so a
// comment inside a block scalar counts as well.
func ignoredIn(data []byte, report reportLine) directives {
	found := directives{}
	var waiting []string // for the next line that is no comment
	number, count, begun := 0, 0, false
	for line := range bytes.Lines(data) {
		number++
		text := strings.TrimSpace(string(line))
		alone := text == "" || strings.HasPrefix(text, "#") || strings.HasPrefix(text, "---")
		match := directive.FindStringSubmatch(text)
		var rules []string
		if match != nil && count < maxDirectives {
			count++
			rules = named(match[1], number, report)
		}
		switch {
		case !alone:
			begun = true
			found.add(number, waiting, rules)
			waiting = nil
		case !begun:
			found.add(0, rules)
		default:
			waiting = append(waiting, rules...)
		}
	}
	return found
}

func (d directives) add(line int, rules ...[]string) {
	if all := slices.Concat(rules...); len(all) > 0 {
		d[line] = append(d[line], all...)
	}
}

// named returns the rules that a comment names, and reports those that there are not.
func named(text string, line int, report reportLine) []string {
	names, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	if names == "" {
		report(line, "winnow:ignore names no rule")
		return nil
	}
	var rules []string
	for name := range strings.SplitSeq(names, ",") {
		if err := Ignorable(name); err != nil {
			report(line, "winnow:ignore: %s", err)
			continue
		}
		rules = append(rules, name)
	}
	return rules
}

// Ignorable returns why the findings of a rule cannot be left out: there is no such rule, or Winnow
// refuses the catalog whatever lint says.
func Ignorable(name string) error {
	known := each.Map(slices.Concat(Rules(), SelectionRules(), ChartRules()), func(rule rules.Rule) string { return rule.ID })
	switch {
	case slices.ContainsFunc(loadingRules(), func(r rules.Rule) bool { return r.ID == name }):
		return fmt.Errorf("%s cannot be ignored: Winnow refuses the catalog", name)
	case slices.Contains(known, name):
		return nil
	}
	if near := spelling.Likeliest(name, known); near != "" {
		return fmt.Errorf("no rule %s; did you mean %s?", excerpt.Quoted(name), near)
	}
	return fmt.Errorf("no rule %s; docs/lint.md has all", excerpt.Quoted(name))
}

// covers reports whether a finding is left out. One without a line is of the file as a whole.
func (d directives) covers(f rules.Finding) bool {
	return slices.Contains(d[0], f.Rule) || f.Line > 0 && slices.Contains(d[f.Line], f.Rule)
}

// commentedFiles returns the files of findings by their paths; nil for one whose comments ignore nothing.
func commentedFiles(fsys fs.FS, found []rules.Finding) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, f := range found {
		if _, read := files[f.Path]; read {
			continue
		}
		data, _, err := corpus.Content(fsys, f.Path, filebased.MaxFile)
		if err != nil {
			return nil, err
		}
		if !bytes.Contains(data, []byte("winnow:ignore")) {
			data = nil // a file of packages has up to a million lines
		}
		files[f.Path] = data
	}
	return files, nil
}

// keep leaves out the findings that are ignored, by their rule or by a comment in a file of the corpus or another one, and
// adds what is wrong with such comments. It returns how many it left out.
func keep(found []rules.Finding, c *corpus.Corpus, files map[string][]byte, ignore []string) (kept []rules.Finding, ignored int) {
	comments := map[string]directives{}
	read := func(application, file string, data []byte) {
		if _, known := comments[file]; !known {
			comments[file] = ignoredIn(data, func(line int, format string, args ...any) {
				found = append(found, ignoreRule().Finding(application, file, line, format, args...))
			})
		}
	}
	for _, d := range c.Definitions {
		read(d.Name, d.Path, d.File)
		read(d.Name, d.MetadataPath, d.MetadataFile)
	}
	for name, data := range files {
		read("", name, data)
	}
	kept = each.Where(found, func(f rules.Finding) bool { return !slices.Contains(ignore, f.Rule) && !comments[f.Path].covers(f) })
	return kept, len(found) - len(kept)
}

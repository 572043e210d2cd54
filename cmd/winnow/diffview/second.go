// SPDX-License-Identifier: Apache-2.0

package diffview

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/diff"
)

const (
	keepingHeadline = "To keep what vanishes instead, without an approval, copy each OCIRepository with another name and its former digest:"
	mergingHeadline = "and add the copies behind the sources of the CatalogSelection:"
)

// keeping returns how to keep what vanishes: by copies of OCIRepositories, and the sources to add.
func keeping(h *diff.Held) block {
	if h == nil || len(h.SecondSources) == 0 {
		return block{}
	}
	second := h.SecondSources
	return block{snippets: []snippet{
		{wording{plaintext.Wrap(keepingHeadline, ""), keepingHeadline}, copiesYAML(second)}, {same(mergingHeadline), mergingYAML(second)},
	}}
}

// copiesYAML returns what differs in the copies of OCIRepositories.
func copiesYAML(sources []diff.SecondSource) string {
	var lines []string
	for i, s := range sources {
		if i > 0 {
			lines = append(lines, "---")
		}
		lines = append(lines, "# a copy of "+plaintext.Line(s.Name), "metadata:", "  name: "+plaintext.Line(s.Reference.Name),
			"spec:", "  ref:", "    digest: "+plaintext.Line(s.Digest))
	}
	return strings.Join(lines, "\n") + "\n"
}

// mergingYAML returns the sources to add.
func mergingYAML(sources []diff.SecondSource) string {
	lines := []string{"spec:", "  sources:", "  # ..."}
	for _, s := range sources {
		ref := s.Reference
		for i, field := range []struct{ name, value string }{
			{"kind", cmp.Or(ref.Kind, "OCIRepository")}, {"name", ref.Name}, {"namespace", ref.Namespace}, {"path", quotedIfOdd(ref.Path)},
			{"format", otherThan(v1alpha1.FormatAuto, ref.Format)}, {"requireVerified", trueOnly(ref.RequireVerified)}, {"merge", ref.Merge},
		} {
			if field.value != "" {
				lines = append(lines, fmt.Sprintf("  %s %s: %s", []string{"-", " "}[min(i, 1)], field.name, plaintext.Line(field.value)))
			}
		}
		if len(ref.Include) > 0 {
			lines = append(lines, "    include:")
		}
		for _, glob := range ref.Include {
			lines = append(lines, fmt.Sprintf("    - %q", glob))
		}
		if ref.Limit == nil {
			continue
		}
		lines = append(lines, "    limit:", "      nameSelector:")
		for _, name := range ref.Limit.NameSelector {
			lines = append(lines, "      - "+plaintext.Line(name))
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// otherThan returns a value, empty for the default.
func otherThan(standard, value string) string {
	if value == standard {
		return ""
	}
	return value
}

func trueOnly(value bool) string {
	if value {
		return "true"
	}
	return ""
}

// quotedIfOdd returns a path as YAML.
func quotedIfOdd(path string) string {
	if strings.Trim(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ/") == "" {
		return path
	}
	return fmt.Sprintf("%q", path)
}

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
	lines := plaintext.Texts{"spec:", "  sources:", "  # ..."}
	for _, s := range sources {
		ref := s.Reference
		lines.Add(true, "  - kind: %s", plaintext.Line(cmp.Or(ref.Kind, "OCIRepository")))
		lines.Add(ref.Name != "", "    name: %s", plaintext.Line(ref.Name))
		lines.Add(ref.Namespace != "", "    namespace: %s", plaintext.Line(ref.Namespace))
		lines.Add(ref.Path != "", "    path: %s", plaintext.Line(quotedIfOdd(ref.Path)))
		lines.Add(ref.Format != "" && ref.Format != v1alpha1.FormatAuto, "    format: %s", plaintext.Line(ref.Format))
		lines.Add(ref.RequireVerified, "    requireVerified: true")
		lines.Add(ref.Merge != "", "    merge: %s", plaintext.Line(ref.Merge))
		lines.Add(len(ref.Include) > 0, "    include:")
		for _, glob := range ref.Include {
			lines.Add(true, "    - %q", glob)
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

// quotedIfOdd returns a path as YAML.
func quotedIfOdd(path string) string {
	if strings.Trim(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ/") == "" {
		return path
	}
	return fmt.Sprintf("%q", path)
}

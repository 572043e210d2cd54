// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/winnow-dev/winnow/render/approval"
	"github.com/winnow-dev/winnow/render/mention"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/render/spelling"
)

// UnmatchedLines returns the entries of spec.safeguards.approve that are no lines, or about an application or an instance that
// neither the publications nor the catalogs have, and the checksums of sources: a revision releases nothing. skip reports
// entries that need no report, because they are used.
func UnmatchedLines(entries []string, definitions []safeguard.Definition, decided selection.Result, sources []Source, skip func(string) bool) []mention.Unmatched {
	if len(entries) == 0 {
		return nil
	}
	applications, instances := map[string]bool{}, map[string]bool{}
	for _, d := range definitions {
		applications[cmp.Or(d.Application, d.Name)] = true
		instances[d.Instance] = true
	}
	for _, d := range decided.Decisions {
		applications[d.Application.Name] = true
	}
	var all []mention.Unmatched
	for i, entry := range entries {
		line, err := approval.Parse(entry)
		u := mention.Unmatched{Mention: mention.Mention{Field: fmt.Sprintf("spec.safeguards.approve[%d]", i), Value: entry}}
		switch {
		case skip(entry):
			continue
		case err != nil:
			u.Reason = err.Error()
		case line.Checksum != "":
			j := slices.IndexFunc(sources, func(s Source) bool { return s.Checksum == line.Checksum })
			if j < 0 {
				continue
			}
			u.Reason = fmt.Sprintf("the checksum of the source %s releases nothing: name what leaves", sources[j].Name)
		case line.Application != "" && !applications[line.Application]:
			u.Reason = fmt.Sprintf("no application is called %s", line.Application)
			u.Nearest = spelling.Likeliest(line.Application, slices.Collect(maps.Keys(applications)))
		case line.Instance != "" && !instances[line.Instance]:
			u.Reason = fmt.Sprintf("no instance is called %s", line.Instance)
			u.Nearest = spelling.Likeliest(line.Instance, slices.Collect(maps.Keys(instances)))
		default:
			continue
		}
		all = append(all, u)
	}
	return all
}

// SPDX-License-Identifier: Apache-2.0

package rendering

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/winnow-dev/winnow/render/dialect"
)

// maxGenerated bounds the fields of a manifest that are listed; with more, all of it is generated.
const maxGenerated = 100

// Comments stands for the comments of a manifest, in place of the path of a field.
const Comments = "#"

// markGenerated marks the fields of manifests that differ in another render.
func markGenerated(all, again []Manifest) {
	for i := range all {
		switch {
		case len(all) != len(again), all[i].Path != again[i].Path:
			all[i].Generated = []string{""}
		case all[i].Text != again[i].Text:
			all[i].Generated = differing(all[i].Text, again[i].Text)
		}
	}
}

// differing returns the paths of the fields that differ between two manifests.
func differing(text, again string) []string {
	var a, b any
	if dialect.Unmarshal([]byte(text), &a) != nil || dialect.Unmarshal([]byte(again), &b) != nil {
		return []string{""}
	}
	paths := differences(nil, "", a, b)
	switch {
	case len(paths) > maxGenerated, len(paths) == 0 && strings.Contains(text, "\n---"): // documents behind the first may differ
		return []string{""}
	case len(paths) == 0:
		return []string{Comments}
	}
	return paths
}

func differences(found []string, path string, a, b any) []string {
	switch a := a.(type) {
	case map[string]any:
		if other, isMapping := b.(map[string]any); isMapping {
			names := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(other))
			slices.Sort(names)
			for _, name := range slices.Compact(names) {
				found = differences(found, path+"."+name, a[name], other[name])
			}
			return found
		}
	case []any:
		if other, isList := b.([]any); isList && len(a) == len(other) {
			for i := range a {
				found = differences(found, path+"["+strconv.Itoa(i)+"]", a[i], other[i])
			}
			return found
		}
	}
	if !reflect.DeepEqual(a, b) {
		found = append(found, path)
	}
	return found
}

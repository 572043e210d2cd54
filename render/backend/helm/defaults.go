// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/backend/draft"
	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/backend/kkp"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// executedDefaults returns the default values with their templates executed, without what the values of the
// instance replace. A template that needs a cluster of KKP is a problem unless it is replaced.
func executedDefaults(d *draft.Draft) map[string]any {
	values, path, _ := kkp.ReadDefaultValues(d)
	e := execution{draft: d, templates: templates{left: kkp.MaxActions}}
	return e.mapping(path, values, d.Values)
}

// execution executes the templates in default values.
type execution struct {
	draft     *draft.Draft
	templates templates
}

// mapping executes what is not replaced.
func (e *execution) mapping(path string, values, replacing map[string]any) map[string]any {
	kept := make(map[string]any, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		at := path + "." + name
		over, isReplaced := replacing[name]
		under, isMapping := values[name].(map[string]any)
		members, merges := over.(map[string]any)
		switch {
		case isReplaced && (!isMapping || !merges):
			// Nothing of the default is left, whatever valuesFrom has between them.
		case strings.Contains(name, kkp.LeftDelimiter):
			e.draft.Fault(at, "is a key with a template, which cannot be executed here: replace %s in the values of the instance", excerpt.Quoted(name))
		case isMapping:
			kept[name] = e.mapping(at, under, members)
		default:
			kept[name] = e.value(at, values[name])
		}
	}
	return kept
}

func (e *execution) value(path string, value any) any {
	switch typed := value.(type) {
	case string:
		result, err := e.templates.execute(typed)
		if err != nil {
			e.draft.Fault(path, "%v: replace it in the values of the instance, or in the overrides of the selection", err)
		}
		return result
	case map[string]any:
		return e.mapping(path, typed, nil)
	case []any:
		list := make([]any, 0, len(typed))
		for i, element := range typed {
			list = append(list, e.value(backend.Indexed(path, i), element))
		}
		return list
	default:
		return value
	}
}

// addDefaults adds a ConfigMap with default values, and returns the reference to it. The name changes with the
// content, so that values and chart switch together.
func addDefaults(d *draft.Draft, values map[string]any) []v1alpha1.ValuesReference {
	if len(values) == 0 {
		return nil
	}
	content, err := yaml.Marshal(values)
	if err != nil {
		d.Fault("spec", "encoding the default values: %v", err)
		return nil
	}
	name := d.Name + backend.DefaultsInfix + backend.Digest(string(content))
	d.Add(backend.Values, kinds.ConfigMap, d.Namespace, name, map[string]any{"data": map[string]any{backend.DefaultsKey: string(content)}})
	return []v1alpha1.ValuesReference{{Kind: kinds.ConfigMap.Kind, Name: name, ValuesKey: backend.DefaultsKey}}
}

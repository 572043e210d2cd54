// SPDX-License-Identifier: Apache-2.0

package upgrades

import (
	"encoding/base64"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/winnow-dev/winnow/render/excerpt"
)

// normalized returns the content of an object as the API server reads it: without zero values, with quantities in one form, and
// the texts of a Secret as its data. What is no valid object of its kind stays as it is.
func normalized(o object) map[string]any {
	content := runtime.DeepCopyJSON(o.content)
	version, _ := content["apiVersion"].(string)
	if typed, err := scheme.Scheme.New(schema.FromAPIVersionAndKind(version, o.kind)); err == nil {
		converter := runtime.DefaultUnstructuredConverter
		if converter.FromUnstructured(content, typed) == nil {
			if again, err := converter.ToUnstructured(typed); err == nil {
				content = again
			}
		}
	}
	if isKind(o, "", "Secret") {
		encodeTexts(content)
	}
	return content
}

// encodeTexts moves the stringData of a Secret into its data.
func encodeTexts(content map[string]any) {
	texts, _, _ := unstructured.NestedStringMap(content, "stringData")
	delete(content, "stringData")
	if len(texts) == 0 {
		return
	}
	data, _ := content["data"].(map[string]any)
	if data == nil {
		data = map[string]any{}
		content["data"] = data
	}
	for name, text := range texts {
		data[name] = base64.StdEncoding.EncodeToString([]byte(text))
	}
}

func isKind(o object, group, kind string) bool { return o.group == group && o.kind == kind }

// difference is a value that differs.
type difference struct {
	path     string
	from, to any
}

// differences returns the values that differ, unless may allows it. An empty mapping or list is none at all, as for the API server.
func differences(path string, from, to any, may func(path string) bool) (found []difference) {
	if isEmpty(from) && isEmpty(to) || may(path) {
		return nil
	}
	switch a := from.(type) {
	case map[string]any:
		if b, ok := to.(map[string]any); ok {
			names := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
			slices.Sort(names)
			for _, name := range slices.Compact(names) {
				found = append(found, differences(below(path, "."+name), a[name], b[name], may)...)
			}
			return found
		}
	case []any:
		if b, ok := to.([]any); ok && len(a) == len(b) {
			for i := range a {
				found = append(found, differences(below(path, "["+strconv.Itoa(i)+"]"), a[i], b[i], may)...)
			}
			return found
		}
	}
	if reflect.DeepEqual(from, to) {
		return nil
	}
	return []difference{{path, from, to}}
}

// maxPath bounds a path, and a key in it, in bytes: keys may be long, and a path is written for each value.
const maxPath = 1000

// below returns the path of a key or an index in a value, or the path of the value itself if that is too long.
func below(path, mark string) string {
	if len(path) > maxPath {
		return path
	}
	return path + excerpt.To(mark, maxPath)
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

// splitPath returns the keys of a dotted path that begins with a dot.
func splitPath(path string) []string { return strings.Split(path[1:], ".") }

// templatesOf returns the names of the templates of claims of a StatefulSet.
func templatesOf(o object) (names []string) {
	if isKind(o, "apps", "StatefulSet") {
		for _, template := range o.at("spec", "volumeClaimTemplates").Items() {
			names = append(names, template.Get("metadata", "name").Text())
		}
	}
	return names
}

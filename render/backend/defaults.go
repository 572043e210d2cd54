package backend

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// defaultValues reads the default values of a definition of KKP as they stand there, with templates. The path is that
// of their field, and text the block that they are written in, if they are.
func (d *draft) defaultValues() (values map[string]any, path, text string) {
	block, object := d.spec.get("defaultValuesBlock"), d.spec.get("defaultValues")
	text = block.text()
	if strings.TrimSpace(text) == "" {
		return object.mapping(), object.path, ""
	}
	if len(object.mapping()) > 0 {
		block.fault("stands beside spec.defaultValues: one of them has to go")
		return nil, block.path, ""
	}
	values, err := DecodeValues([]byte(text))
	if err != nil {
		advice := ""
		if strings.Contains(text, leftDelimiter) {
			advice = ": the text must be YAML before its templates are executed, so put them in quotes"
		}
		block.fault("%v%s", err, advice)
	}
	return values, block.path, text
}

// DecodeValues reads values as Helm does, for which yes and off are booleans. They are nil if the text is empty. The error
// says what is wrong with the text.
func DecodeValues(text []byte) (map[string]any, error) {
	node, err := yamlnode.First(text)
	if err != nil {
		line, message := yamlnode.Position(err, text)
		return nil, fmt.Errorf("is not valid YAML: line %d: %s", line, message)
	}
	if node == nil {
		return nil, nil
	}
	if err := yamlnode.Validate(node); err != nil {
		return nil, fmt.Errorf("cannot be used: %w", err)
	}
	encoded, err := yaml.YAMLToJSON(text)
	if err != nil {
		return nil, fmt.Errorf("is not valid YAML: %s", excerpt.Of(err.Error()))
	}
	var values map[string]any
	if err := json.Unmarshal(encoded, &values); err != nil {
		return nil, errors.New("must hold a mapping")
	}
	return values, nil
}

// executedDefaults returns the default values with their templates executed, without what the values of the
// instance replace. A template that needs a cluster of KKP is a problem unless it is replaced.
func (d *draft) executedDefaults() map[string]any {
	values, path, _ := d.defaultValues()
	e := execution{draft: d, actions: maxActions}
	return e.mapping(path, values, d.Values)
}

// execution executes the templates in default values.
type execution struct {
	*draft

	// actions is the number of those that may still be executed.
	actions int
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
		case strings.Contains(name, leftDelimiter):
			e.fault(at, "is a key with a template, which cannot be executed here: replace %s in the values of the instance", quote(name))
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
		result, err := e.execute(typed)
		if err != nil {
			e.fault(path, "%v: replace it in the values of the instance, or in the overrides of the selection", err)
		}
		return result
	case map[string]any:
		return e.mapping(path, typed, nil)
	case []any:
		list := make([]any, 0, len(typed))
		for i, element := range typed {
			list = append(list, e.value(indexed(path, i), element))
		}
		return list
	default:
		return value
	}
}

// addDefaults adds a ConfigMap with default values, and returns the reference to it. The name changes with the
// content, so that values and chart switch together.
func (d *draft) addDefaults(values map[string]any) []ValuesReference {
	if len(values) == 0 {
		return nil
	}
	content, err := yaml.Marshal(values)
	if err != nil {
		d.fault("spec", "encoding the default values: %v", err)
		return nil
	}
	name := d.Name + defaultsInfix + digest(string(content))
	d.add(Values, configMapKind, d.Namespace, name, map[string]any{"data": map[string]any{defaultsKey: string(content)}})
	return []ValuesReference{{Kind: configMapKind.Kind, Name: name, ValuesKey: defaultsKey}}
}

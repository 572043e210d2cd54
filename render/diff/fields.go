package diff

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/identity"
)

// Bounds of what is told of one object.
const (
	maxFields = 100
	maxField  = 200 // bytes of a value
)

// change is a field with its values.
type change struct {
	path     []string
	from, to any
	// gone and fresh say that there is no value on one of the sides.
	gone, fresh bool
}

// fieldsOf returns where two objects differ, sorted by path. Lists are compared as a whole.
func fieldsOf(older, newer map[string]any) []change {
	var all []change
	walk(nil, older, newer, &all)
	return all
}

func walk(path []string, older, newer map[string]any, all *[]change) {
	keys := slices.Collect(maps.Keys(older))
	for key := range newer {
		if _, both := older[key]; !both {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		below := append(slices.Clone(path), key)
		from, was := older[key]
		to, is := newer[key]
		mapping, one := from.(map[string]any)
		other, two := to.(map[string]any)
		switch {
		case one && two:
			walk(below, mapping, other, all)
		case was != is || !reflect.DeepEqual(from, to):
			*all = append(*all, change{path: below, from: from, to: to, gone: was && !is, fresh: is && !was})
		}
	}
}

// isAt reports whether the change is of the field, or of something below it.
func (c change) isAt(path ...string) bool {
	return len(c.path) >= len(path) && slices.Equal(c.path[:len(path)], path)
}

// plainKey needs no quotes in a path.
var plainKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// text returns the path as one text.
func (c change) text() string {
	var path strings.Builder
	for i, key := range c.path {
		switch {
		case !plainKey.MatchString(key):
			fmt.Fprintf(&path, "[%s]", asJSON(key))
		case i > 0:
			path.WriteString("." + key)
		default:
			path.WriteString(key)
		}
	}
	return path.String()
}

func (c change) field() Field {
	f := Field{Path: c.text()}
	key := c.path[len(c.path)-1]
	if !c.fresh {
		f.From = shown(key, c.from)
	}
	if !c.gone {
		f.To = shown(key, c.to)
	}
	return f
}

// shown returns the value of a field as JSON, or the word for one that is base64.
func shown(key string, value any) string {
	if text, ok := value.(string); ok {
		if word, ok := opaque(text, isLogo(key)); ok {
			return word
		}
	}
	return asJSON(readable(key, value))
}

// asJSON returns a value as JSON of at most maxField bytes, and how long it is when it is longer.
func asJSON(value any) string {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return fmt.Sprintf("%q", fmt.Sprint(value)) // NaN and the like
	}
	encoded := strings.TrimSuffix(text.String(), "\n")
	if len(encoded) <= maxField {
		return encoded
	}
	return fmt.Sprintf("%s (%d bytes)", excerpt.To(encoded, maxField), len(encoded))
}

// bounded returns the first changes, and how many more there are.
func bounded(changes []change) ([]Field, int) {
	fields := make([]Field, 0, min(len(changes), maxFields))
	for _, c := range changes[:min(len(changes), maxFields)] {
		fields = append(fields, c.field())
	}
	return fields, len(changes) - len(fields)
}

// other fills in what changes beside the entries of spec.versions.
func (a *Application) other(changes []change, older, newer render.Object) {
	a.Values = newValues(older, newer)
	if from, to := namespaceOf(older), namespaceOf(newer); from != to {
		a.DefaultNamespace = &Field{Path: "spec.defaultNamespace.name", From: from, To: to}
	}
	for _, c := range changes {
		if isIdentity(a, c.text()) {
			a.Identity = append(a.Identity, c.field())
		}
	}
	rest := slices.DeleteFunc(changes, func(c change) bool {
		return c.isAt("spec", blockField) || c.isAt("spec", mappingField) ||
			c.isAt("spec", "versions") && len(a.Versions) > 0 ||
			c.isAt("spec", "defaultNamespace", "name") && a.DefaultNamespace != nil ||
			isIdentity(a, c.text())
	})
	for i, c := range rest {
		// No entry differs, so their order does.
		if _, was := entries(older); c.isAt("spec", "versions") && len(was) > 0 {
			_, is := entries(newer)
			rest[i].from, rest[i].to = was, is
		}
	}
	a.Fields, a.FieldsOmitted = bounded(rest)
}

// isIdentity reports whether the safeguards look at a field as one that decides which live releases are
// meant.
func isIdentity(a *Application, path string) bool {
	return strings.HasPrefix(a.APIVersion, identity.CozystackGroup+"/") &&
		(path == identity.Prefix || path == identity.Kind || path == identity.Plural)
}

// namespaceOf returns spec.defaultNamespace.name as JSON, empty without one.
func namespaceOf(object render.Object) string {
	spec, _ := object["spec"].(map[string]any)
	namespace, _ := spec["defaultNamespace"].(map[string]any)
	name, ok := namespace["name"].(string)
	if !ok {
		return ""
	}
	return asJSON(name)
}

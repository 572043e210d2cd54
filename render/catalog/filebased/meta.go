package filebased

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
)

// meta is what every document has.
type meta struct{ schema, packageName, name string }

// folded returns a key as it is compared with others.
func folded(key string) string {
	if strings.IndexFunc(key, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return strings.ToLower(key)
	}
	return cases.Fold().String(key)
}

// readMeta returns the schema, package and name of a document. Keys are found in any case of their letters, and so
// no two may be equal but for that.
func readMeta(members []member) (found meta, problems []problem) {
	keys := map[string][]string{}
	values := map[string][]byte{}
	for _, one := range members {
		var key string
		if err := json.Unmarshal(one.key, &key); err != nil {
			problems = append(problems, problem{message: err.Error()})
		}
		fold := folded(key)
		if !slices.Contains(keys[fold], key) {
			keys[fold] = append(keys[fold], key)
		}
		values[fold] = one.value
		if len(keys[fold]) == 2 {
			problems = append(problems, problem{at: place{key}, message: "is the same key but for the case of its letters as " + quote(keys[fold][0])})
		}
	}
	for _, field := range []struct {
		name  string
		value *string
	}{{"schema", &found.schema}, {"package", &found.packageName}, {"name", &found.name}} {
		raw, isSet := values[field.name]
		if !isSet {
			continue
		}
		if raw[0] != '"' {
			problems = append(problems, problem{at: place{field.name}, message: "must be a string"})
			continue
		}
		if err := json.Unmarshal(raw, field.value); err != nil {
			problems = append(problems, problem{at: place{field.name}, message: err.Error()})
		}
	}
	if len(problems) == 0 && found.schema == "" {
		problems = append(problems, problem{message: "has no schema: every document needs one, such as olm.bundle"})
	}
	return found, problems
}

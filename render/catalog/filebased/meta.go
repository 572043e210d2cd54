package filebased

import (
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
	first := make(map[string]string, len(members))
	values := make(map[string][]byte, len(members))
	for _, one := range members {
		key := unquoted(one.key)
		fold := folded(key)
		if other, taken := first[fold]; taken && other != key {
			problems = append(problems, problem{at: place{key}, message: "is the same key but for the case of its letters as " + quote(other)})
		}
		first[fold], values[fold] = key, one.value
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
		*field.value = unquoted(raw)
	}
	if len(problems) == 0 && found.schema == "" {
		problems = append(problems, problem{message: "has no schema: every document needs one, such as olm.bundle"})
	}
	return found, problems
}

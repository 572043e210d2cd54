// SPDX-License-Identifier: Apache-2.0

package filebased

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing/fstest"
)

// write writes the documents.
func (g *generated) write() {
	names := slices.Sorted(maps.Keys(g.channels))
	document := []any{"schema", SchemaPackage, "name", g.name, "defaultChannel", pick(g, names...), "description", "a\nb"}
	g.document(document)
	var deprecated []any
	deprecate := func(reference ...any) {
		if g.IntN(3) == 0 {
			deprecated = append(deprecated, []any{"reference", reference, "message", "no: " + fmt.Sprint(len(deprecated))})
		}
	}
	for _, name := range names {
		var entries []any
		for _, one := range g.channels[name] {
			entry := []any{"name", one.Name}
			if one.Replaces != "" {
				entry = append(entry, "replaces", one.Replaces)
			}
			if len(one.Skips) > 0 {
				entry = append(entry, "skips", one.Skips)
			}
			if one.SkipRange != "" {
				entry = append(entry, "skipRange", one.SkipRange)
			}
			entries = append(entries, entry)
		}
		g.document([]any{"schema", SchemaChannel, "package", g.name, "name", name, "entries", entries, "x", []any{[]any{"name", "-"}}})
		deprecate("schema", SchemaChannel, "name", name)
	}
	for i, name := range g.bundles {
		properties := []any{[]any{"type", "olm.package", "value", []any{"packageName", g.name, "version", g.versions[i]}}}
		for range g.IntN(3) {
			properties = append(properties, pick(g,
				[]any{"type", "olm.gvk", "value", []any{"group", "example.com", "version", "v1", "kind", fmt.Sprintf("K%d", g.IntN(4))}},
				[]any{"type", "olm.package.required", "value", []any{"packageName", "q", "versionRange", ">=1.0.0"}},
				[]any{"type", "olm.constraint", "value", []any{"failureMessage", "no"}},
				[]any{"type", "olm.csv.metadata", "value", []any{"installModes", []any{[]any{"type", "AllNamespaces", "supported", true}}}},
			))
		}
		g.document([]any{"schema", SchemaBundle, "package", g.name, "name", name, "image", "x", "properties", properties})
		deprecate("schema", SchemaBundle, "name", name)
	}
	deprecate("schema", SchemaPackage)
	if len(deprecated) > 0 {
		g.document([]any{"schema", SchemaDeprecation, "package", g.name, "entries", deprecated})
	}
	g.document([]any{"schema", "example.com.note", "package", g.name, "text", "kept"})
}

// document writes keys and values, which lists that begin with a text are as well.
func (g *generated) document(members []any) {
	g.Shuffle(len(members)/2, func(i, j int) {
		members[2*i], members[2*j] = members[2*j], members[2*i]
		members[2*i+1], members[2*j+1] = members[2*j+1], members[2*i+1]
	})
	file, text := g.name+"/catalog.yaml", ""
	switch g.IntN(4) {
	case 0:
		file, text = g.name+"/catalog.json", g.flow(members, true)+pick(g, "", "\n", " \n\n")
	case 1:
		text = pick(g, "---\n", "--- # one\n", "---\n# one\n") + g.flow(members, false) + "\n"
	default:
		text = "---\n" + pick(g, "", "# one\n", "\n") + g.block(members, 0)
	}
	if g.files[file] == nil {
		g.files[file] = &fstest.MapFile{}
	}
	g.files[file].Data = append(g.files[file].Data, text...)
}

func isMapping(value any) ([]any, bool) {
	list, isList := value.([]any)
	if !isList || len(list) == 0 {
		return nil, false
	}
	_, isKey := list[0].(string)
	return list, isKey
}

func (g *generated) scalar(value any, isJSON bool) string {
	text, isText := value.(string)
	if !isText {
		return fmt.Sprint(value)
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	isPlain := !strings.ContainsAny(text, "#:'\"[]{},\n\\<>=+äb ") && !strings.HasPrefix(text, "-")
	switch {
	case isJSON, strings.Contains(text, "\n"):
		return string(quoted)
	case isPlain && g.IntN(2) == 0:
		return text
	}
	return pick(g, string(quoted), "'"+strings.ReplaceAll(text, "'", "''")+"'")
}

func elementsOf(value any) (all []any, isList bool) {
	switch value := value.(type) {
	case []string:
		for _, one := range value {
			all = append(all, one)
		}
		return all, true
	case []any:
		return value, true
	}
	return nil, false
}

// flow writes a value in brackets.
func (g *generated) flow(value any, isJSON bool) string {
	blank := pick(g, "", " ", "\n ")
	if !isJSON {
		blank = pick(g, " ", "\n ", " # ]}, '\n   ")
	}
	if members, isMap := isMapping(value); isMap {
		var parts []string
		for i := 0; i < len(members); i += 2 {
			key := members[i].(string)
			if isJSON {
				key = `"` + key + `"`
			}
			parts = append(parts, key+": "+g.flow(members[i+1], isJSON))
		}
		return "{" + strings.Join(parts, ","+blank) + pick(g, "", blank) + "}"
	}
	if list, isList := elementsOf(value); isList {
		var parts []string
		for _, one := range list {
			parts = append(parts, g.flow(one, isJSON))
		}
		end := pick(g, "", blank)
		if !isJSON && len(parts) > 0 {
			end = pick(g, end, ",", ","+blank)
		}
		return "[" + pick(g, "", blank) + strings.Join(parts, ","+blank) + end + "]"
	}
	return g.scalar(value, isJSON)
}

// block writes a value in lines.
func (g *generated) block(value any, indent int) string {
	var text strings.Builder
	line := strings.Repeat(" ", indent)
	noise := func() {
		text.WriteString(pick(g, "", "", "", "", "\n", line+"# note: [\n", "  \n", "# - name\n", line+"   # deeper\n"))
	}
	if members, isMap := isMapping(value); isMap {
		for i := 0; i < len(members); i += 2 {
			if i > 0 {
				noise()
			}
			text.WriteString(line + members[i].(string) + ":" + g.nested(members[i+1], indent))
		}
		return text.String()
	}
	list, _ := elementsOf(value)
	for _, one := range list {
		noise()
		if _, isMap := isMapping(one); isMap && g.IntN(4) > 0 {
			text.WriteString(line + "- " + strings.TrimPrefix(g.block(one, indent+2), line+"  "))
			continue
		}
		text.WriteString(line + "- " + strings.ReplaceAll(g.flow(one, false), "\n", "\n"+line+"  ") + pick(g, "", " ", " # note") + "\n")
	}
	return text.String()
}

// nested writes the value of a key.
func (g *generated) nested(value any, indent int) string {
	_, isMap := isMapping(value)
	list, isList := elementsOf(value)
	switch {
	case isMap && g.IntN(2) == 0:
		return "\n" + g.block(value, indent+2)
	case isList && !isMap && len(list) > 0 && g.IntN(3) > 0:
		return pick(g, "", " # list") + "\n" + g.block(value, indent+pick(g, 0, 2, 4))
	}
	return " " + strings.ReplaceAll(g.flow(value, false), "\n", "\n"+strings.Repeat(" ", indent+2)) + "\n"
}

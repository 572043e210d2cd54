package filebased

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// generated is a valid package that a seed makes: its channels have random graphs, and its documents are written in
// random ways.
type generated struct {
	*rand.Rand
	// tame says that entries replace and skip lower versions alone.
	tame     bool
	name     string
	versions []string // of the bundles, from the lowest to the highest
	bundles  []string
	channels map[string][]Entry
	files    fstest.MapFS
}

func generate(seed uint64, tame bool) *generated {
	g := &generated{Rand: rand.New(rand.NewPCG(seed, 0)), tame: tame, name: fmt.Sprintf("p%d", seed), channels: map[string][]Entry{}, files: fstest.MapFS{}}
	for i := range 1 + g.IntN(10) {
		version := fmt.Sprintf("1.%d.0", i)
		if g.IntN(5) == 0 {
			version = fmt.Sprintf("1.%d.0-rc.1+b.%d", i, i)
		}
		g.versions = append(g.versions, version)
		g.bundles = append(g.bundles, fmt.Sprintf(pick(g, "%s.v%d", "%s.v%d", "%s.v%d", "%s: #%d", "%s, [%d]", "%s'\"%d", "- %s\\%d", "ä%s\n%d"), g.name, i))
	}
	for i := range 1 + g.IntN(3) {
		g.channel(fmt.Sprintf(pick(g, "c%d", "c%d", "c: %d", "'c, %d]"), i), i == 0)
	}
	g.write()
	return g
}

func pick[T any](g *generated, values ...T) T { return values[g.IntN(len(values))] }

// channel adds a channel, with all bundles or some of them.
func (g *generated) channel(name string, all bool) {
	var entries []Entry
	for i, bundle := range g.bundles {
		if all || g.IntN(3) > 0 || i == len(g.bundles)-1 {
			entries = append(entries, g.entry(bundle, i))
		}
	}
	g.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
	for !g.repaired(entries) {
		continue
	}
	g.channels[name] = entries
}

// other returns the name of a bundle, mostly of a lower one, or of none.
func (g *generated) other(i int) string {
	switch {
	case g.IntN(6) == 0:
		return g.name + ".absent" + fmt.Sprint(g.IntN(3))
	case g.tame || g.IntN(4) > 0:
		if i == 0 {
			return g.name + ".v-1"
		}
		return g.bundles[max(0, i-1-g.IntN(3))]
	}
	return pick(g, g.bundles...)
}

func (g *generated) entry(name string, i int) Entry {
	entry := Entry{Name: name}
	if g.IntN(5) > 0 {
		entry.Replaces = g.other(i)
	}
	for range pick(g, 0, 0, 0, 1, 2, 4) {
		entry.Skips = append(entry.Skips, g.other(i))
	}
	entry.SkipRange = pick(g, "", "", "", fmt.Sprintf("<1.%d.0", i), fmt.Sprintf(">=1.%d.0 <1.%d.0", i/2, i))
	return entry
}

// repaired changes one thing that makes a graph invalid, and reports whether there was none.
func (g *generated) repaired(entries []Entry) bool {
	top := g.bundles[len(g.bundles)-1]
	at := func(name string) *Entry {
		return &entries[slices.IndexFunc(entries, func(e Entry) bool { return e.Name == name })]
	}
	graph := newGraph(entries, func(string) bool { return true })
	if len(graph.heads) == 0 {
		for i := range entries {
			if entries[i].Replaces == top {
				entries[i].Replaces = ""
			}
			entries[i].Skips = filtered(entries[i].Skips, func(name string) bool { return name != top })
		}
		return false
	}
	if len(graph.heads) > 1 {
		head := pick(g, graph.heads...)
		if g.tame || slices.Contains(graph.heads, top) {
			head = top
		}
		for _, other := range graph.heads {
			if other != head {
				at(head).Skips = append(at(head).Skips, other)
			}
		}
		return false
	}
	chain, cycle := graph.chain(graph.heads[0])
	if len(cycle) > 0 {
		at(cycle[len(cycle)-1]).Replaces = ""
		return false
	}
	stranded := graph.stranded(entries, chain)
	for _, other := range stranded {
		by := at(pick(g, chain...))
		if g.tame {
			by = at(top)
		}
		by.Skips = append(by.Skips, other)
	}
	return len(stranded) == 0
}

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

func (g *generated) load(t *testing.T) *Catalog {
	t.Helper()
	loaded, err := Load(t.Context(), g.files)
	if err != nil {
		t.Fatalf("%s: %v\n%s", g.name, err, g.text())
	}
	return loaded
}

func (g *generated) text() string {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(g.files)) {
		fmt.Fprintf(&text, "-- %s --\n%s", name, g.files[name].Data)
	}
	return text.String()
}

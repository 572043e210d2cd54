package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
)

// Values of -o, in the order of formats. formatText is the earlier name of formatTable in diff.
const (
	formatTable    = "table"
	formatWide     = "wide"
	formatName     = "name"
	formatYAML     = "yaml"
	formatJSON     = "json"
	formatMarkdown = "markdown"
	formatGitHub   = "github"
	formatText     = "text"
)

// formats returns all values of -o, in the order of help texts.
func formats() []string {
	return []string{formatTable, formatWide, formatName, formatJSON, formatYAML, formatMarkdown, formatGitHub}
}

// choice is the value of a flag that allows a fixed set of values. The first is the default.
type choice struct {
	value   string
	allowed []string
	// alias is another word for the first value; may be empty.
	alias string
}

// addChoice adds the flag with its completion.
func addChoice(cmd *cobra.Command, name, shorthand, usage string, allowed ...string) *choice {
	c := &choice{value: allowed[0], allowed: allowed}
	cmd.Flags().VarP(c, name, shorthand, usage+": "+strings.Join(allowed, ", "))
	cmd.Flags().Lookup(name).DefValue = "" // the first of the list, as everywhere
	// The only error is that there is no such flag.
	_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(allowed, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// addFormat adds -o with the formats of every view, and more.
func addFormat(cmd *cobra.Command, more ...string) *choice {
	with := append([]string{formatTable, formatJSON, formatYAML, formatMarkdown}, more...)
	return addFormats(cmd, with...)
}

// addFormats adds -o with the formats, in the order of all.
func addFormats(cmd *cobra.Command, with ...string) *choice {
	all := slices.DeleteFunc(formats(), func(one string) bool { return !slices.Contains(with, one) })
	return addChoice(cmd, "output", "o", "`FORMAT`", all...)
}

// String is part of pflag.Value.
func (c *choice) String() string { return c.value }

// Type is part of pflag.Value.
func (c *choice) Type() string { return "string" }

// Set is part of pflag.Value.
func (c *choice) Set(value string) error {
	if value != "" && value == c.alias {
		value = c.allowed[0]
	}
	if !slices.Contains(c.allowed, value) {
		return fmt.Errorf("use one of %s", strings.Join(c.allowed, ", "))
	}
	c.value = value
	return nil
}

// document begins every JSON and YAML document. docs/schemas has a schema of each kind; within a version a field keeps
// its meaning, and new ones may come.
type document struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
}

// documentVersion is the apiVersion of all documents but those of diff, which has its own.
const documentVersion = "cli.winnow.dev/v1alpha1"

func newDocument(kind string) document { return document{documentVersion, kind} }

// view is a result that can be printed as a table. YAML and JSON print its fields by their JSON tags.
type view interface{ table(w io.Writer) }

// markdownView is a view that can be printed as Markdown.
type markdownView interface {
	view
	markdown(w io.Writer)
}

// listing is a view of objects, with two more formats.
type listing interface {
	view
	// wide prints the table with all columns, uncut.
	wide(w io.Writer)
	// names returns the objects as kubectl's -o name does.
	names() []string
}

// write prints a view in a format.
func write(w io.Writer, format string, v view) error {
	var text strings.Builder
	switch format {
	case formatJSON:
		encoder := json.NewEncoder(&text)
		encoder.SetEscapeHTML(false) // >= stays readable
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(v); err != nil {
			return err
		}
	case formatYAML:
		content, err := yaml.Marshal(v)
		if err != nil {
			return err
		}
		text.Write(content)
	case formatMarkdown:
		v.(markdownView).markdown(&text) // a verb allows only the formats that its views have
	case formatWide:
		v.(listing).wide(&text)
	case formatName:
		for _, name := range v.(listing).names() {
			fmt.Fprintln(&text, plaintext.Line(name))
		}
	default:
		v.table(&text)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// grid is a table of text, which may come from a catalog and is not trusted.
type grid struct {
	header []string
	rows   [][]string
}

// print writes the grid in columns, two spaces apart.
func (g grid) print(w io.Writer) {
	lines := append([][]string{g.header}, g.rows...)
	widths := make([]int, len(g.header))
	for _, line := range lines {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(plaintext.Line(cell)))
		}
	}
	for _, line := range lines {
		var text strings.Builder
		for i, cell := range line {
			fmt.Fprintf(&text, "%-*s  ", widths[i], plaintext.Line(cell))
		}
		fmt.Fprintln(w, strings.TrimRight(text.String(), " "))
	}
}

// markdown writes the grid as a table of GitHub's Markdown.
func (g grid) markdown(w io.Writer) {
	rule := slices.Repeat([]string{"---"}, len(g.header))
	for _, line := range append([][]string{g.header, rule}, g.rows...) {
		cells := make([]string, len(line))
		for i, cell := range line {
			cells[i] = escapeMarkdown(cell)
		}
		fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | "))
	}
}

// escapeMarkdown keeps the text of a catalog from becoming markup, in a table or elsewhere.
func escapeMarkdown(text string) string {
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", "&lt;", "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "@", "&#64;").
		Replace(plaintext.Line(text))
}

// resourceName returns the name of an object as kubectl's -o name prints it, which kubectl get takes.
func resourceName(apiVersion, kind, name string) string {
	resource := strings.ToLower(kind)
	if group, _, grouped := strings.Cut(apiVersion, "/"); grouped {
		resource += "." + group
	}
	return resource + "/" + name
}

// allVersions returns the versions, uncut.
func allVersions(versions []string) string { return orDash(strings.Join(versions, ", ")) }

// orDash returns a text, or a dash for one without visible characters.
func orDash(text string) string {
	if plaintext.Line(text) == "" {
		return "-"
	}
	return text
}

// versionsColumn returns up to three versions, and of more the first, the last and the number.
func versionsColumn(versions []string) string {
	switch n := len(versions); {
	case n == 0:
		return "-"
	case n <= 3:
		return strings.Join(versions, ", ")
	default:
		return fmt.Sprintf("%s ... %s (%d)", versions[0], versions[n-1], n)
	}
}

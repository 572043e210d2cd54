// SPDX-License-Identifier: Apache-2.0

package output

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
)

// Values of -o, in the order of formats. FormatText is the earlier name of FormatTable in diff.
const (
	FormatTable    = "table"
	FormatWide     = "wide"
	FormatName     = "name"
	FormatYAML     = "yaml"
	FormatJSON     = "json"
	FormatMarkdown = "markdown"
	FormatGitHub   = "github"
	FormatText     = "text"
)

// Formats returns all values of -o, in the order of help texts.
func Formats() []string {
	return []string{FormatTable, FormatWide, FormatName, FormatJSON, FormatYAML, FormatMarkdown, FormatGitHub}
}

// Document begins every JSON and YAML document. docs/schemas has a schema of each kind; within a version a field keeps
// its meaning, and new ones may come.
type Document struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
}

// documentVersion is the apiVersion of all documents but diff's, which have their own.
const documentVersion = "cli.winnow.dev/v1alpha1"

// NewDocument returns the beginning of a document of a kind.
func NewDocument(kind string) Document { return Document{documentVersion, kind} }

// View is a result that can be printed as a table. YAML and JSON print its fields by their JSON tags.
type View interface{ Table(w io.Writer) }

// markdownView is a view that can be printed as Markdown.
type markdownView interface{ Markdown(w io.Writer) }

// wideView is a view that has more columns than its table. Wide prints all columns, uncut.
type wideView interface{ Wide(w io.Writer) }

// namedView is a view of objects. Names returns them as kubectl's -o name does.
type namedView interface{ Names() []string }

// Write prints a view in a format.
func Write(w io.Writer, format string, v View) error {
	var text strings.Builder
	switch format {
	case FormatJSON, FormatYAML:
		return Encode(w, format, v)
	case FormatMarkdown:
		v.(markdownView).Markdown(&text) // a verb allows only the formats that its views have
	case FormatWide:
		v.(wideView).Wide(&text)
	case FormatName:
		for _, name := range v.(namedView).Names() {
			fmt.Fprintln(&text, plaintext.Line(name))
		}
	default:
		v.Table(&text)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// WriteRedacted prints a view as Write does, and changes the text by redact, such as redact.Text.
func WriteRedacted(w io.Writer, format string, v View, redact func(string) string) error {
	var text strings.Builder
	if err := Write(&text, format, v); err != nil {
		return err
	}
	_, err := io.WriteString(w, redact(text.String()))
	return err
}

// Encode writes a value as JSON or YAML.
func Encode(w io.Writer, format string, value any) error {
	if format == FormatJSON {
		encoder := json.NewEncoder(w)
		encoder.SetEscapeHTML(false) // >= stays readable
		encoder.SetIndent("", "  ")
		return encoder.Encode(value)
	}
	content, err := yaml.Marshal(value)
	if err != nil {
		return err
	}
	_, err = w.Write(content)
	return err
}

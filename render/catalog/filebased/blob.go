package filebased

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/render/yamlnode"
)

// The schemas that OLM knows. Any other one is kept as it is.
const (
	SchemaPackage     = "olm.package"
	SchemaChannel     = "olm.channel"
	SchemaBundle      = "olm.bundle"
	SchemaDeprecation = "olm.deprecations"
)

// Blob is a document of the catalog.
type Blob struct {
	Schema, Package, Name string
	// Path of its file, its number in it, and the line in which it begins, from 1.
	Path           string
	Document, Line int
	// Data are its bytes in the file, with the comments in and above it. Nothing may change them.
	Data []byte
	// JSON says that it is one of several JSON objects, which only readers of JSON can be relied on to read.
	JSON bool

	content any
}

// place of a value in a document: keys, and indexes of lists.
type place []any

func (p place) String() string {
	var text strings.Builder
	for _, step := range p {
		switch step := step.(type) {
		case int:
			fmt.Fprintf(&text, "[%d]", step)
		default:
			if text.Len() > 0 {
				text.WriteByte('.')
			}
			fmt.Fprint(&text, step)
		}
	}
	return text.String()
}

// problem is what is wrong with a value of a document.
type problem struct {
	at      place
	message string
	// line in the document, from 1, where it is known without the place.
	line int
}

// readBlob decodes a document, and returns its first problems. A blob with some has what could be read of it.
func readBlob(source document) (*Blob, []problem) {
	blob, problems := decodeBlob(source)
	if len(problems) > maxFileViolations {
		problems = slices.Clone(problems[:maxFileViolations])
	}
	return blob, problems
}

func decodeBlob(source document) (*Blob, []problem) {
	blob := &Blob{Path: source.path, Document: source.number, Line: source.line, Data: source.data, JSON: source.json}
	if !source.json {
		data, lines := source.content()
		blob.Data, blob.Line = data, source.line+lines
	}
	if len(blob.Data) > maxDocument {
		return blob, []problem{{message: fmt.Sprintf("is larger than %d bytes", maxDocument)}}
	}
	data, top, err := blob.object()
	if err != nil {
		return blob, []problem{blob.unreadable(source, err)}
	}
	found, problems := readMeta(top.members)
	blob.Schema, blob.Package, blob.Name = found.schema, found.packageName, found.name
	if len(problems) > 0 {
		return blob, problems
	}
	return blob, blob.decode(data, top)
}

// object returns the document as JSON that has one reading, and its top.
func (b *Blob) object() ([]byte, object, error) {
	data := b.Data
	if !b.JSON {
		converted, err := toJSON(data)
		if err != nil {
			return nil, object{}, err
		}
		if converted[0] != '{' {
			return nil, object{}, errNoMapping
		}
		data = converted
	}
	top, err := scanObject(data)
	if err != nil || top.plain {
		return data, top, err
	}
	if data, err = normalized(data); err != nil {
		return nil, object{}, err
	}
	top, err = scanObject(data)
	return data, top, err
}

// Object returns the document in JSON's types; nil without one that can be read.
func (b *Blob) Object() map[string]any {
	data, _, err := b.object()
	var decoded map[string]any
	if err != nil || json.Unmarshal(data, &decoded) != nil {
		return nil
	}
	return decoded
}

// decode reads what a schema has.
func (b *Blob) decode(data []byte, top object) []problem {
	var err error
	switch b.Schema {
	case SchemaPackage:
		var document packageDocument
		err = json.Unmarshal(data, &document)
		b.content = &packageContent{DefaultChannel: document.DefaultChannel}
	case SchemaChannel:
		var document channelDocument
		err = json.Unmarshal(data, &document)
		b.content = &channelContent{Entries: document.Entries}
	case SchemaDeprecation:
		content := &deprecationContent{}
		b.content, err = content, json.Unmarshal(data, content)
	case SchemaBundle:
		bundle, problems := readBundle(top.members)
		b.content = bundle
		return problems
	}
	if err != nil {
		return []problem{typeProblem(err)}
	}
	return nil
}

var errNoMapping = errors.New("must be a mapping with a schema: a document may not have comments alone")

// unreadable says why a document cannot be read.
func (b *Blob) unreadable(source document, err error) problem {
	if b.JSON {
		if found := checkJSON(b.Data); found != nil {
			return *found
		}
	}
	if source.failure.message != "" {
		return source.failure
	}
	return b.syntaxProblem(err)
}

// syntaxProblem says where a document cannot be read.
func (b *Blob) syntaxProblem(err error) problem {
	if !strings.HasPrefix(err.Error(), "yaml: ") {
		return problem{message: err.Error()}
	}
	line, message := yamlnode.Position(err, b.Data)
	return problem{message: "is not valid YAML: " + message, line: line}
}

// typeProblem says which field has the wrong type.
func typeProblem(err error) problem {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return problem{message: err.Error()}
	}
	var at place
	for key := range strings.SplitSeq(wrong.Field, ".") {
		if key != "" {
			at = append(at, key)
		}
	}
	want := map[reflect.Kind]string{reflect.String: "a string", reflect.Bool: "a boolean", reflect.Slice: "a list"}[wrong.Type.Kind()]
	got := map[string]string{"array": "a list", "object": "a mapping", "bool": "a boolean", "string": "a string"}[wrong.Value]
	return problem{at: at, message: fmt.Sprintf("must be %s, but is %s", cmp.Or(want, "a mapping"), cmp.Or(got, "a number"))}
}

// SPDX-License-Identifier: Apache-2.0

package filebased

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/winnow-dev/winnow/render/catalog/filebased/jsontext"
	"github.com/winnow-dev/winnow/render/catalog/filebased/shape"
	"github.com/winnow-dev/winnow/render/catalog/filebased/split"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// readBlob decodes a document, and returns its problems. A blob with some has what could be read of it.
func readBlob(source split.Document) (*Blob, []shape.Problem) {
	blob := &Blob{Path: source.Path, Document: source.Number, Line: source.Line, Data: source.Data, JSON: source.JSON}
	if !source.JSON {
		data, lines := source.Content()
		blob.Data, blob.Line = data, source.Line+lines
	}
	if len(blob.Data) > jsontext.MaxDocument {
		return blob, []shape.Problem{{Message: fmt.Sprintf("is larger than %d bytes", jsontext.MaxDocument)}}
	}
	data, top, err := blob.object()
	if err != nil {
		return blob, []shape.Problem{blob.unreadable(source, err)}
	}
	if problems := blob.readMeta(top.Members); len(problems) > 0 {
		return blob, problems
	}
	return blob, blob.decode(data, top)
}

// decode reads what a schema has.
func (b *Blob) decode(data []byte, top jsontext.Object) []shape.Problem {
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
		bundle, problems := readBundle(top.Members)
		b.content = bundle
		return problems
	}
	if err != nil {
		return []shape.Problem{shape.TypeProblem(err)}
	}
	return nil
}

// unreadable explains where and why a document cannot be read.
func (b *Blob) unreadable(source split.Document, err error) shape.Problem {
	if b.JSON {
		if found := split.CheckJSON(b.Data); found != nil {
			return *found
		}
	}
	switch {
	case source.Failure.Message != "":
		return source.Failure
	case !strings.HasPrefix(err.Error(), "yaml: "):
		return shape.Problem{Message: err.Error()}
	}
	line, message := yamlnode.Position(err, b.Data)
	return shape.Problem{Message: "is not valid YAML: " + yamlnode.WithCause(message, line, b.Data), Line: line}
}

// kept returns how many values the content of a blob keeps in memory.
func (b *Blob) kept() int64 {
	sum := 0
	switch content := b.content.(type) {
	case *channelContent:
		sum = len(content.Entries)
		for _, entry := range content.Entries {
			sum += len(entry.Skips)
		}
	case *deprecationContent:
		sum = len(content.Entries)
	case *Bundle:
		sum = len(content.Provides) + len(content.Dependencies) + len(content.InstallModes)
	}
	return int64(sum)
}

// readMeta reads the schema, package and name, which every document has. Keys are found in any case of their letters, and so
// no two may be equal but for that.
func (b *Blob) readMeta(members []jsontext.Member) (problems []shape.Problem) {
	first := make(map[string]string, len(members))
	values := make(map[string][]byte, len(members))
	for _, one := range members {
		key := jsontext.Unquoted(one.Key)
		fold := jsontext.Folded(key)
		if other, taken := first[fold]; taken && other != key {
			problems = append(problems, shape.Problem{At: shape.FieldPath{key}, Message: "is the same key but for the case of its letters as " + excerpt.Quoted(other)})
		}
		first[fold], values[fold] = key, one.Value
	}
	for _, field := range []struct {
		name  string
		value *string
	}{{"schema", &b.Schema}, {"package", &b.Package}, {"name", &b.Name}} {
		raw, isSet := values[field.name]
		if !isSet {
			continue
		}
		if raw[0] != '"' {
			problems = append(problems, shape.Problem{At: shape.FieldPath{field.name}, Message: "must be a string"})
			continue
		}
		*field.value = jsontext.Unquoted(raw)
	}
	if len(problems) == 0 && b.Schema == "" {
		problems = append(problems, shape.Problem{Message: "has no schema: every document needs one, such as olm.bundle"})
	}
	return problems
}

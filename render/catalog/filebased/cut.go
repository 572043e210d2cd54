package filebased

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
)

// add adds what stays of a blob of the package.
func (p *packagePruning) add(blob *Blob) {
	kept := blob
	switch content := blob.content.(type) {
	case *packageContent:
		kept = p.packageBlob(blob, content)
	case *channelContent:
		names := p.channels[blob.Name]
		if names == nil {
			return
		}
		entries := filtered(content.Entries, func(e Entry) bool { return names[e.Name] })
		if len(entries) < len(content.Entries) {
			kept = blob.cut(&channelContent{Entries: entries}, len(content.Entries), func(i int) bool { return names[content.Entries[i].Name] })
		}
	case *deprecationContent:
		entries := filtered(content.Entries, p.keepsDeprecation)
		switch {
		case len(entries) == len(content.Entries):
		case len(entries) == 0:
			return
		default:
			kept = blob.cut(&deprecationContent{Entries: entries}, len(content.Entries), func(i int) bool { return p.keepsDeprecation(content.Entries[i]) })
		}
	case *Bundle:
		if !p.bundles[blob.Name] {
			return
		}
	}
	if kept == nil {
		p.refuse("entries cannot be removed from the document in %s: write it without aliases and merge keys", blob.where())
		return
	}
	p.blobs = append(p.blobs, kept)
}

func (p *packagePruning) packageBlob(blob *Blob, content *packageContent) *Blob {
	name := p.keep.DefaultChannel
	if name == "" || name == content.DefaultChannel {
		return blob
	}
	if blob.Data == nil {
		return blob.withContent(&packageContent{DefaultChannel: name})
	}
	return blob.edited(setText(blob, "defaultChannel", name), func(top map[string]any) { top["defaultChannel"] = name })
}

func (p *packagePruning) keepsDeprecation(one Deprecation) bool {
	switch one.Reference.Schema {
	case SchemaChannel:
		return p.channels[one.Reference.Name] != nil
	case SchemaBundle:
		return p.bundles[one.Reference.Name]
	}
	return true
}

func filtered[T any](all []T, keep func(T) bool) (kept []T) {
	for _, one := range all {
		if keep(one) {
			kept = append(kept, one)
		}
	}
	return kept
}

// cut returns the blob with those of its entries that stay, which leave a content.
func (b *Blob) cut(content any, count int, keep func(int) bool) *Blob {
	if b.Data == nil {
		return b.withContent(content)
	}
	return b.edited(cutList(b, "entries", count, keep), func(top map[string]any) {
		all, _ := top["entries"].([]any)
		kept := []any{}
		for i, one := range all {
			if keep(i) {
				kept = append(kept, one)
			}
		}
		top["entries"] = kept
	})
}

// withContent returns a document of a Record with another content.
func (b *Blob) withContent(content any) *Blob {
	changed := *b
	changed.content = content
	return &changed
}

// edited returns the blob with other bytes. Where these do not say what edit makes of the document, as with the aliases
// and merge keys of YAML, it writes the whole document as JSON. It is nil if that does not say it either.
func (b *Blob) edited(data []byte, edit func(top map[string]any)) *Blob {
	wanted, err := b.values()
	if err != nil {
		return nil
	}
	edit(wanted)
	if len(data) > 0 {
		if changed := b.with(data, b.JSON, wanted); changed != nil {
			return changed
		}
	}
	if data, err = json.Marshal(wanted); err != nil {
		return nil
	}
	return b.with(data, true, wanted)
}

// with returns the blob with other bytes, nil if these do not say what is wanted.
func (b *Blob) with(data []byte, isJSON bool, wanted map[string]any) *Blob {
	changed, problems := readBlob(document{path: b.Path, number: b.Document, line: b.Line, data: data, json: isJSON})
	if len(problems) > 0 {
		return nil
	}
	if found, err := changed.values(); err != nil || !reflect.DeepEqual(found, wanted) {
		return nil
	}
	return changed
}

// values returns everything that the document says.
func (b *Blob) values() (map[string]any, error) {
	data, _, err := b.object()
	if err != nil {
		return nil, err
	}
	top := map[string]any{}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&top); err != nil {
		return nil, err
	}
	canonical := make(map[string]any, len(top))
	for key, value := range top {
		canonical[canonicalKey(key)] = value
	}
	return canonical, nil
}

// knownKeys are those of documents and properties that are looked up.
var knownKeys = []string{"schema", "package", "name", "entries", "defaultChannel", "image", "properties", "relatedImages", "type", "value"}

// canonicalKey returns a key of a document in the case of its letters that OLM documents.
func canonicalKey(key string) string {
	for _, known := range knownKeys {
		if known == key {
			return key
		}
	}
	for _, known := range knownKeys {
		if strings.EqualFold(known, key) {
			return known
		}
	}
	return key
}

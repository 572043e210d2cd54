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
		wanted := *content
		wanted.Entries = filtered(content.Entries, func(e Entry) bool { return names[e.Name] })
		kept = blob.cut(len(wanted.Entries) < len(content.Entries), &wanted, func(i int) bool { return names[content.Entries[i].Name] })
	case *deprecationContent:
		wanted := *content
		wanted.Entries = filtered(content.Entries, p.keepsDeprecation)
		if len(wanted.Entries) == 0 && len(content.Entries) > 0 {
			return
		}
		kept = blob.cut(len(wanted.Entries) < len(content.Entries), &wanted, func(i int) bool { return p.keepsDeprecation(content.Entries[i]) })
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
	wanted := *content
	wanted.DefaultChannel = name
	if blob.Data == nil {
		return blob.withContent(&wanted)
	}
	return blob.edited(setText(blob, "defaultChannel", name), &wanted, func(top map[string]any) { top["defaultChannel"] = name })
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

// cut returns the blob with the elements of entries that stay.
func (b *Blob) cut(isShorter bool, wanted any, keep func(int) bool) *Blob {
	switch {
	case !isShorter:
		return b
	case b.Data == nil:
		return b.withContent(wanted)
	}
	return b.edited(cutList(b, "entries", keep), wanted, func(top map[string]any) {
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

// edited returns the blob with other bytes. Where these do not say what is wanted, as with the aliases and merge
// keys of YAML, it writes the whole document as JSON, changed by edit. It is nil if that is not what is wanted either.
func (b *Blob) edited(data []byte, wanted any, edit func(top map[string]any)) *Blob {
	if len(data) > 0 {
		if changed := b.with(data, b.JSON); reflect.DeepEqual(changed.content, wanted) {
			return changed
		}
	}
	data, err := b.rewritten(edit)
	if err != nil {
		return nil
	}
	if changed := b.with(data, true); reflect.DeepEqual(changed.content, wanted) {
		return changed
	}
	return nil
}

// rewritten returns the document as JSON, changed by edit.
func (b *Blob) rewritten(edit func(top map[string]any)) ([]byte, error) {
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
	edit(canonical)
	return json.Marshal(canonical)
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

// with returns the blob with other bytes.
func (b *Blob) with(data []byte, isJSON bool) *Blob {
	changed, _ := readBlob(document{path: b.Path, number: b.Document, line: b.Line, data: data, json: isJSON})
	return changed
}

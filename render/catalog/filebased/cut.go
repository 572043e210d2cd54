// SPDX-License-Identifier: Apache-2.0

package filebased

import (
	"bytes"
	"encoding/json"
	"reflect"

	"github.com/winnow-dev/winnow/render/catalog/filebased/jsontext"
	"github.com/winnow-dev/winnow/render/catalog/filebased/splice"
	"github.com/winnow-dev/winnow/render/catalog/filebased/split"
)

// cut returns the blob with the entries that stay.
func (b *Blob) cut(count int, keep func(int) bool) *Blob {
	return b.edited(splice.CutList(b.Data, b.JSON, "entries", count, keep), func(top map[string]any) {
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
	changed, problems := readBlob(split.Document{Path: b.Path, Number: b.Document, Line: b.Line, Data: data, JSON: isJSON})
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
		canonical[jsontext.CanonicalKey(key)] = value
	}
	return canonical, nil
}

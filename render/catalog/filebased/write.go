// SPDX-License-Identifier: Apache-2.0

package filebased

import "bytes"

// File is a file of a package.
type File struct {
	Name string
	Data []byte
}

// Files returns the blobs of a package as files that any reader of catalogs accepts.
func (p *Package) Files() []File { return Files(p.Blobs) }

// Files returns blobs, with their bytes and in their order, as catalog.yaml and, those that are JSON, as
// catalog.json: not every JSON text can be read as YAML.
func Files(blobs []*Blob) []File {
	var yamlText, jsonText bytes.Buffer
	for _, blob := range blobs {
		into := &yamlText
		if blob.JSON {
			into = &jsonText
		} else if !bytes.HasPrefix(blob.Data, []byte("---")) {
			into.WriteString("---\n")
		}
		into.Write(blob.Data)
		if !bytes.HasSuffix(blob.Data, []byte("\n")) {
			into.WriteByte('\n')
		}
	}
	var files []File
	for _, file := range []File{{"catalog.json", jsonText.Bytes()}, {"catalog.yaml", yamlText.Bytes()}} {
		if len(file.Data) > 0 {
			files = append(files, file)
		}
	}
	return files
}

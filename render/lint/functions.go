package lint

import (
	"bytes"
	"io/fs"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/filebased"
)

const functionRule = "functions/incomplete"

// incomplete returns what a catalog, nil if it is invalid, should say and does not.
func incomplete(loaded *catalog.Catalog, strict bool) (found []Finding) {
	if loaded == nil {
		return nil
	}
	severity := Warning
	if strict {
		severity = Error
	}
	for _, w := range loaded.Warnings {
		found = append(found, Finding{Rule: functionRule, Severity: severity, Path: w.Path, Line: w.Line, Message: w.Message})
	}
	return found
}

// contentsOf returns the number of applications that are no objects.
func contentsOf(loaded *catalog.Catalog) (count int) {
	if loaded == nil {
		return 0
	}
	for _, a := range loaded.Applications {
		if !a.IsObject() {
			count++
		}
	}
	return count
}

// withFiles adds the files of findings, whose comments may ignore them.
func (c *corpus) withFiles(fsys fs.FS, found []Finding) error {
	c.files = map[string][]byte{}
	for _, f := range found {
		if _, read := c.files[f.Path]; read {
			continue
		}
		data, _, err := content(fsys, f.Path, filebased.MaxFile)
		if err != nil {
			return err
		}
		if !bytes.Contains(data, []byte("winnow:ignore")) {
			data = nil // a file of packages has up to a million lines
		}
		c.files[f.Path] = data
	}
	return nil
}

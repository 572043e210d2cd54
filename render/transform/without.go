package transform

// Without returns a document without the fields at the paths, which are lists of keys. None of the paths may begin with
// another one, nor may they name all fields of a mapping. A document that has none of the fields is returned as the
// same slice.
func Without(document []byte, paths ...[]string) ([]byte, error) {
	doc, err := parse(document)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		if has(doc.content(), path) {
			doc.omit(doc.content(), path)
		}
	}
	if err := doc.flush(); err != nil {
		return nil, err
	}
	return doc.data, nil
}

package filebased

// fields are the values of an object of valid JSON by name. The names in knownKeys are spelled as there, whatever the
// case of their letters in the document.
type fields map[string][]byte

// byName returns the values of members.
func byName(members []member) fields {
	found := fields{}
	for _, one := range members {
		found[canonicalKey(unquoted(one.key))] = one.value
	}
	return found
}

// fieldsOf returns the fields of an object, none of null.
func fieldsOf(data []byte) fields {
	found := fields{}
	eachMember(data, func(key, value []byte) { found[canonicalKey(unquoted(key))] = value })
	return found
}

// text returns a string, which is empty for null and when it is missing.
func (f fields) text(name string) string {
	if data := f[name]; len(data) > 0 && data[0] == '"' {
		return unquoted(data)
	}
	return ""
}

// list returns the elements of a list, none of null.
func (f fields) list(name string) [][]byte {
	if data := f[name]; len(data) > 0 && data[0] == '[' {
		return elements(data)
	}
	return nil
}

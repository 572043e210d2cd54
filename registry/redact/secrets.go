// SPDX-License-Identifier: Apache-2.0

package redact

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// shortest is the length of the shortest secret, in bytes: shorter words cannot be distinguished from other text.
const shortest = 4

// Secrets are words that messages leave out. It is safe for concurrent use. The zero value has none.
type Secrets struct {
	mu    sync.Mutex
	forms []form
}

// form is a way to write a secret, in lower case.
type form struct {
	text string
	// isEncoded reports whether the neighbours of the text have parts of the secret as well.
	isEncoded bool
}

// Add adds secrets. Words of up to three bytes are no secrets.
func (s *Secrets) Add(words ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, word := range words {
		if len(word) < shortest {
			continue
		}
		for _, f := range formsOf(word) {
			f.text = lower(f.text)
			if !slices.Contains(s.forms, f) {
				s.forms = append(s.forms, f)
			}
		}
	}
	// The longest first: if one secret is a part of another, the rest of the longer must not remain.
	slices.SortStableFunc(s.forms, func(a, b form) int { return cmp.Compare(len(b.text), len(a.text)) })
}

// formsOf returns the ways to write a word: as it is, escaped in a URL, quoted, in JSON and YAML, in hexadecimal digits, and in a longer
// text in base64, at each of the three places where a word begins there.
func formsOf(word string) []form {
	quoted := strconv.Quote(word)
	encoded, _ := json.Marshal(word) // a text can be encoded
	forms := []form{
		{text: word}, {text: url.QueryEscape(word)}, {text: url.PathEscape(word)}, {text: quoted[1 : len(quoted)-1]},
		{text: string(encoded[1 : len(encoded)-1])}, {text: strings.ReplaceAll(word, "'", "''")}, {text: hex.EncodeToString([]byte(word))},
	}
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 {
			bits := 8 * (before + len(word))
			encoded := encoding.EncodeToString([]byte(strings.Repeat("x", before) + word))
			forms = append(forms, form{encoded[(8*before+5)/6 : bits/6], true}) // without the characters that have bits of neighbours
		}
	}
	return forms
}

// Hide replaces the secrets in a text, in upper and lower case.
func (s *Secrets) Hide(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.forms {
		text = f.hide(text)
	}
	return text
}

func (f form) hide(text string) string {
	var out strings.Builder
	folded, from := lower(text), 0
	for {
		at := strings.Index(folded[from:], f.text)
		if at < 0 {
			return out.String() + text[from:]
		}
		at += from
		end := at + len(f.text)
		for f.isEncoded && at > from && isBase64(text[at-1]) {
			at--
		}
		for f.isEncoded && end < len(text) && isBase64(text[end]) {
			end++
		}
		out.WriteString(text[from:at] + mark)
		from = end
	}
}

func isBase64(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("+/-_=", c) >= 0
}

// lower returns a text with the letters of ASCII in lower case, so that it keeps its length.
func lower(text string) string {
	folded := []byte(text)
	for i, c := range folded {
		if 'A' <= c && c <= 'Z' {
			folded[i] = c + 'a' - 'A'
		}
	}
	return string(folded)
}

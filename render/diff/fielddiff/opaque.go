// SPDX-License-Identifier: Apache-2.0

package fielddiff

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"

	"github.com/winnow-dev/winnow/render/diff"
)

// opaque returns the placeholder for a text of base64, such as "(svg, 2100 bytes)", and whether the text is
// one. Line breaks and the head of a data URL count as base64. A logo may be shorter if it is an image, and
// something else than base64 if it is long.
func opaque(text string, logo bool) (string, bool) {
	if head, rest, ok := strings.Cut(text, ";base64,"); ok && strings.HasPrefix(head, "data:") {
		text, logo = rest, true
	}
	joined := strings.Join(strings.Fields(text), "")
	short := len(joined) < minOpaque
	if short && !logo || isHex(joined) {
		return "", false
	}
	decoded, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(joined, "="))
	if err != nil {
		// Links stay readable.
		return word(text), logo && !short && !strings.HasPrefix(text, "http")
	}
	return word(string(decoded)), !short || typeOf(string(decoded)) != unknownType
}

// minOpaque is the least number of characters of base64 that are replaced by a placeholder. Digests and most
// tokens are shorter.
const minOpaque = 100

// encoded matches base64 within a line.
var encoded = regexp.MustCompile(fmt.Sprintf(`[A-Za-z0-9+/]{%d,}={0,2}`, minOpaque))

// readable returns a value with a placeholder for each text of base64: mostly logos of KKP and Cozystack.
func readable(key string, value any) any {
	switch v := value.(type) {
	case string:
		if word, ok := opaque(v, diff.IsLogo(key)); ok {
			return word
		}
	case map[string]any:
		copied := make(map[string]any, len(v))
		for name, below := range v {
			copied[name] = readable(name, below)
		}
		return copied
	case []any:
		copied := make([]any, len(v))
		for i, below := range v {
			copied[i] = readable(key, below)
		}
		return copied
	}
	return value
}

func word(content string) string { return fmt.Sprintf("(%s, %d bytes)", typeOf(content), len(content)) }

// isHex reports whether a text is a digest or a number rather than base64.
func isHex(text string) bool { return strings.Trim(text, "0123456789abcdefABCDEF") == "" }

// unknownType is the type of content that is no image.
const unknownType = "binary"

// typeOf returns the format of an image.
func typeOf(content string) string {
	for _, format := range []struct{ magic, name string }{
		{"\x89PNG", "png"}, {"\xff\xd8\xff", "jpeg"}, {"GIF8", "gif"}, {"RIFF", "webp"},
	} {
		if strings.HasPrefix(content, format.magic) {
			return format.name
		}
	}
	if strings.Contains(content[:min(len(content), 4096)], "<svg") {
		return "svg"
	}
	return unknownType
}

// ReadableLine replaces base64 in a line of text with placeholders.
func ReadableLine(line string) string {
	return encoded.ReplaceAllStringFunc(line, func(text string) string {
		if word, ok := opaque(text, false); ok {
			return word
		}
		return text
	})
}

// SPDX-License-Identifier: Apache-2.0

package logo

import (
	"fmt"
	"strings"
	"testing"
)

// uses returns groups of ten that each use the one before ten times.
func uses(levels int) string {
	groups := `<path id="a0"/>`
	for i := range levels {
		groups += fmt.Sprintf(`<g id="a%d">%s</g>`, i+1, strings.Repeat(fmt.Sprintf(`<use href="#a%d"/>`, i), 10))
	}
	return groups
}

func TestAccept(t *testing.T) {
	svg := func(inner string) string {
		return `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">` + inner + `</svg>`
	}
	for _, test := range []struct {
		name, data string
		// suffix of the file; empty if the picture is refused.
		suffix string
	}{
		{"a drawing", svg(`<defs><linearGradient id="a"/></defs><path fill="url(#a)" d="M0 0h1"/>`), ".svg"},
		{"a declaration", `<?xml version="1.0" encoding="UTF-8"?>` + svg(`<g/>`), ".svg"},
		{"an id that is used", svg(`<defs><clipPath id="c"><use xlink:href="#p"/></clipPath><path id="p"/></defs><g clip-path="url(#c)"/>`), ".svg"},
		{"a style with a gradient", svg(`<style>.a{fill:url(#g)}</style><radialGradient id="g" xlink:href="#h"/><path class="a"/>`), ".svg"},
		{"a style with a mask", svg(`<style>.a{mask:url(#m)}</style><mask id="m"><path class="a"/></mask>`), ""},
		{"a use of uses", svg(uses(11)), ""},
		{"masks of masks", svg(strings.NewReplacer("use href=", "path mask=", `"#`, `"url(#`, `"/>`, `)"/>`).Replace(uses(11))), ""},
		{"a use of itself", svg(`<g id="a"><use href="#a"/></g>`), ""},
		{"an id in a namespace", svg(`<g xml:id="a"/>`), ""},
		{"an id that is encoded", svg(`<use href="#%61"/>`), ""},
		{"a style with a comment", svg(`<style>g{background:u<!-- -->rl(https://example.com)}</style>`), ""},
		{"a style with a section", svg(`<style>g{background:u<![CDATA[rl(https://example.com)]]></style>`), ""},
		{"a style with an element", svg(`<style>g{background:u<desc/>rl(https://example.com)}</style>`), ""},
		{"no element", " ", ""},
		{"a style", svg(`<style>.a{fill:#fff}</style><use xlink:href="#a"/>`), ".svg"},
		{"pixels in a drawing", svg(`<image href="data:image/png;base64,AAAA"/>`), ".svg"},
		{"a PNG", "\x89PNG\r\n\x1a\n...", ".png"},
		{"a JPEG", "\xff\xd8\xff...", ".jpg"},
		{"a GIF", "GIF89a...", ".gif"},
		{"a WebP", "RIFF....WEBPVP8 ", ".webp"},
		{"nothing", "", ""},
		{"too much", svg(strings.Repeat("<g/>", MaxBytes/4)), ""},
		{"a page", "<html><script>alert(1)</script></html>", ""},
		{"no namespace", "<svg><path/></svg>", ""},
		{"a script", svg("<script>alert(1)</script>"), ""},
		{"a script of HTML", svg(`<script xmlns="http://www.w3.org/1999/xhtml">alert(1)</script>`), ""},
		{"a script in the metadata", svg(`<metadata><h:script xmlns:h="http://www.w3.org/1999/xhtml">alert(1)</h:script></metadata>`), ""},
		{"HTML", svg("<foreignObject/>"), ""},
		{"a handler", svg(`<g onload="alert(1)"/>`), ""},
		{"a handler of the root", `<svg xmlns="http://www.w3.org/2000/svg" ONLOAD="alert(1)"/>`, ""},
		{"a link", svg(`<a href="#x"/>`), ""},
		{"a link to a script", svg(`<use xlink:href="javascript:alert(1)"/>`), ""},
		{"another drawing", svg(`<use href="https://example.com/a.svg#a"/>`), ""},
		{"a picture of another host", svg(`<image href="https://example.com/a.png"/>`), ""},
		{"a drawing in a drawing", svg(`<image href="data:image/svg+xml;base64,AAAA"/>`), ""},
		{"an animation", svg(`<set attributeName="href" to="x"/>`), ""},
		{"a style that loads", svg(`<style>@import "x";</style>`), ""},
		{"a style with an address", svg(`<style>g{fill:url( 'https://example.com/a')}</style>`), ""},
		{"an attribute with an address", svg(`<g style="fill:url(//example.com)"/>`), ""},
		{"an escape in a style", svg(`<style>g{fill:u\72l(x)}</style>`), ""},
		{"an entity", `<!DOCTYPE svg [<!ENTITY a "b">]>` + svg("&a;"), ""},
		{"a stylesheet", `<?xml-stylesheet href="x"?>` + svg(""), ""},
		{"another encoding", `<?xml version="1.0" encoding="UTF-7"?>` + svg(""), ""},
		{"XML that ends early", svg("<g>")[:20], ""},
		{"depth", svg(strings.Repeat("<g>", 200) + strings.Repeat("</g>", 200)), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Accept([]byte(test.data))
			switch {
			case (err == nil) != (test.suffix != ""):
				t.Errorf("Accept() = %v, want a file %q", err, test.suffix)
			case err == nil && (!strings.HasSuffix(got.File, test.suffix) || string(got.Data) != test.data):
				t.Errorf("Accept() = %q, with other bytes or another name", got.File)
			}
		})
	}
}

// FuzzAccept shows that no picture of markup passes with what runs.
func FuzzAccept(f *testing.F) {
	f.Add([]byte(`<svg xmlns="http://www.w3.org/2000/svg"><style>.a{fill:url(#a)}</style><g onload="x"/></svg>`))
	f.Add([]byte("\x89PNG\r\n\x1a\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := Accept(data)
		if err != nil || !strings.HasSuffix(got.File, ".svg") {
			return
		}
		for _, word := range []string{"<script", "<foreignobject", "<!entity", "<iframe"} {
			if strings.Contains(strings.ToLower(string(data)), word) && !strings.Contains(string(data), "<!--") && !strings.Contains(string(data), "<![CDATA[") {
				t.Errorf("%s passes:\n%s", word, data)
			}
		}
	})
}

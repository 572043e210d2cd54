// SPDX-License-Identifier: Apache-2.0

package diff_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
)

// A logo has one word, wherever it stands: no report has its bytes.
func TestALogoIsAWord(t *testing.T) {
	encode := func(content string) string { return base64.StdEncoding.EncodeToString([]byte(content)) }
	svg := func(n int) string { return encode("<?xml?><svg>" + strings.Repeat("#", n) + "</svg>") }
	png, text := encode("\x89PNG\r\n\x1a\nshort"), encode(strings.Repeat("base64 of anything ", 10))
	folded := svg(90)[:76] + "\n    " + svg(90)[76:]
	tests := []struct{ name, before, after, want string }{
		{
			name: "a logo of KKP", before: "  logo: " + svg(1000) + "\n", after: "  logo: |+\n    " + folded + "\n",
			want: "a updated; spec.logo (svg, 1018 bytes)->(svg, 108 bytes)",
		},
		{name: "a short one", before: "", after: "  logo: " + png + "\n", want: "a updated; spec.logo ->(png, 13 bytes)"},
		{
			name: "of the same size", before: "  logo: " + encode("GIF89a one") + "\n", after: "  logo: " + encode("GIF89a two") + "\n",
			want: "a updated; spec.logo (gif, 10 bytes)->(gif, 10 bytes)",
		},
		{
			name:  "an icon of Cozystack, with what is around it",
			after: "  dashboard: {icon: " + svg(10) + ", category: IaaS}\n",
			want:  `a updated; spec.dashboard ->{"category":"IaaS","icon":"(svg, 28 bytes)"}`,
		},
		{
			name:  "a data URL, and base64 in a list",
			after: "  logo: data:image/jpeg;base64," + encode("\xff\xd8\xff\xe0jpeg") + "\n  other: [" + text + "]\n",
			want:  `a updated; spec.logo ->(jpeg, 8 bytes); spec.other ->["(binary, 190 bytes)"]`,
		},
		{
			name: "in default values", before: "  defaultValuesBlock: |\n    a: 1\n",
			after: "  defaultValuesBlock: |\n    a: 1\n    image: data:image/svg+xml;base64," + svg(100) + " # it\n",
			want:  `a updated; defaultValuesBlock +1-0 "@@ -1,1 +1,2 @@\n a: 1\n+image: data:image/svg+xml;base64,(svg, 118 bytes) # it\n"`,
		},
		{
			name:  "a logo that is broken, or no base64",
			after: "  logo: " + svg(100) + "-\n  icon: '<svg>" + strings.Repeat("#", 100) + "</svg>'\n",
			want:  "a updated; spec.icon ->(svg, 111 bytes); spec.logo ->(binary, 161 bytes)",
		},
		{
			name:  "what is no base64 stays as it is",
			after: "  logo: https://example.com/logo.svg\n  digest: " + strings.Repeat("0a", 64) + "\n  icon: database\n",
			want: `a updated; spec.digest ->"` + strings.Repeat("0a", 64) + `"; spec.icon ->"database"; ` +
				`spec.logo ->"https://example.com/logo.svg"`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			before := side(t, selectionWith(nil), sourceOf(t, sumA, files{"a": versions("1.0.0") + test.before}))
			after := side(t, selectionWith(nil), sourceOf(t, sumB, files{"a": versions("1.0.0") + test.after}))
			s := compare(t, before, after)
			if got := told(s.Applications[0]); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			report, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			for _, bytes := range []string{png[:12], svg(10)[:12], text[:12]} {
				if strings.Contains(string(report), bytes) {
					t.Errorf("the report has %s of a logo: %s", bytes, report)
				}
			}
		})
	}
}

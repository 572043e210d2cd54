// SPDX-License-Identifier: Apache-2.0

package fetching

import (
	"net/url"
	"strings"
	"testing"
)

// Whatever an index.yaml has, looking a chart up ends, and what is found has a URL that can be requested, or is refused.
func FuzzIndex(f *testing.F) {
	for _, content := range []string{
		"entries: {web: [{version: 1.0.0, urls: [a]}]}", "entries: {web: [{version: v1.0.0, urls: ['//host/a'], digest: x}]}",
		"entries: &a {web: [*a]}", "a: &a [*a]\nentries: *a", "entries: {web: [{<<: {version: 1.0.0}, urls: [\"\"]}]}", "[", "",
	} {
		f.Add([]byte(content))
	}
	base := &url.URL{Scheme: "https", Host: "charts.example.com", Path: "/stable/"}
	f.Fuzz(func(t *testing.T, content []byte) {
		index, err := parseIndex(base, content)
		if err != nil {
			return
		}
		found, err := index.find("web", "1.0.0")
		if err == nil && (found.url == "" || found.digest != "" && found.digest.Validate() != nil) {
			t.Errorf("find() = %+v", found)
		}
		if parsed, err := parseURL(found.url); err == nil && (parsed.User != nil || !strings.HasPrefix(parsed.Scheme, "http")) {
			t.Errorf("the URL is %s", found.url)
		}
	})
}

// A catalog may look up as many versions as an index.yaml has: each one that is another is only compared.
func TestAVersionIsParsedOnlyIfItIsTheSame(t *testing.T) {
	index, err := parseIndex(&url.URL{Scheme: "https", Host: "charts.example.com"}, []byte("entries:\n  web:\n"+strings.Repeat("  - version: 1.0.0-a\n", 10_000)))
	if err != nil {
		t.Fatal(err)
	}
	found := testing.AllocsPerRun(1, func() {
		if _, err := index.find("web", "1.0.0"); err == nil {
			t.Error("another version is found")
		}
	})
	if found > 100 {
		t.Errorf("it takes %.0f allocations to find no version", found)
	}
}

func TestAVersionIsReadAsHelmReadsIt(t *testing.T) {
	index, err := parseIndex(&url.URL{Scheme: "https", Host: "charts.example.com"}, []byte("entries:\n  web:\n  - {version: 1.10, urls: [a]}\n  - {version: {}, urls: [b]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := index.find("web", "1.1"); err != nil {
		t.Error(err)
	}
}

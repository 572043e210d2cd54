// SPDX-License-Identifier: Apache-2.0

package transform_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/transform"
)

// merging returns the application of a document with the versions of others that it lacks.
func merging(t testing.TB, document string, others ...string) *catalog.Application {
	t.Helper()
	application := load(t, []byte(document))
	for i, other := range others {
		from := load(t, []byte(other))
		lacks := slices.DeleteFunc(slices.Clone(from.Versions), func(v string) bool { return slices.Contains(application.Versions, v) })
		application = application.With(catalog.Merged{Source: fmt.Sprintf("old%d", i), From: from, Versions: lacks})
	}
	return application
}

func TestVersionsOfLaterSourcesAreAppended(t *testing.T) {
	const later = "  versions:\n    # the first\n    - version: '1' # one\n      template:\n        values: |\n          a: 1\n\n          b: 2\n" +
		"    - version: '2'\n    # the last\n    -\n      version: '3'\n"
	for _, test := range []struct{ name, config, first, later, want string }{
		{
			"with their comments, in another indentation", none,
			"  versions:\n  - version: '2' # two\n\n  # the end\n  method: helm # how\n", later + "  method: helm\n",
			"  versions:\n  - version: '2' # two\n  # the first\n  - version: '1' # one\n    template:\n      values: |\n        a: 1\n\n        b: 2\n" +
				"  # the last\n  -\n    version: '3'\n\n  # the end\n  method: helm # how\n",
		},
		{
			"to a list at the end of a file without a line break", none,
			"  versions:\n      - version: '2'", "  versions:\n  - version: '1'",
			"  versions:\n      - version: '2'\n      - version: '1'",
		},
		{
			"with the line breaks of the first", none,
			"  method: helm\r\n  versions:\r\n  - version: '2'\r\n", "  method: helm\n  versions:\n  - version: '1'\n    # x\n    template: {}\n",
			"  method: helm\r\n  versions:\r\n  - version: '2'\r\n  - version: '1'\r\n    # x\r\n    template: {}\r\n",
		},
		{
			"of an application with Windows' line breaks", none,
			"  versions:\n  - version: '2'\n", "  versions:\r\n  - version: '1'\r\n    # x\r\n    template: {}\r\n",
			"  versions:\n  - version: '2'\n  - version: '1'\n    # x\n    template: {}\n",
		},
		{
			"out of a list in one line", none,
			"  versions:\n  - version: '2' # two\n", "  versions: [{version: '1', template: {a: b}}]\n",
			"  versions:\n  - version: '2' # two\n  - {version: '1', template: {a: b}}\n",
		},
		{
			"with what aliases stand for", none,
			"  versions:\n  - version: '2' # two\n", "  versions:\n  - version: '2'\n    template: &t {a: b}\n  - version: '1'\n    template: *t\n",
			"  versions:\n  - version: '2' # two\n  - version: '1'\n    template: {a: b}\n",
		},
		{
			"to a list in one line", none,
			"  versions: [{version: '2'}]\n", "  versions:\n  - version: '1'\n",
			"  versions:\n    - {version: '2'}\n    - version: '1'\n",
		},
		{
			"to an application without versions", none,
			"  method: helm\n", "  method: helm\n  versions:\n  - version: '1'\n",
			"  method: helm\n  versions:\n    - version: '1'\n",
		},
		{
			"before the selection drops some", "versions: ['1']\n" + none,
			"  defaultVersion: '2'\n  versions:\n  - version: '2'\n", later, "  versions:\n" +
				"  # the first\n  - version: '1' # one\n    template:\n      values: |\n        a: 1\n\n        b: 2\n",
		},
		{
			"unless the selection drops all of them", "versions: ['2']\n" + none,
			"  versions:\n  - version: '2'\n", later, "  versions:\n  - version: '2'\n",
		},
		{
			"before mirrors, which rewrite them", "mirrors: [{from: quay.io, to: r.internal}]\n" + none,
			"  versions:\n  - version: '2'\n", "  versions:\n  - version: '1'\n    template: {source: {helm: {url: oci://quay.io/a}}}\n",
			"  versions:\n  - version: '2'\n  - version: '1'\n    template: {source: {helm: {url: oci://r.internal/a}}}\n",
		},
		{
			"with text further left than their dashes, where all is encoded anew", none,
			"  versions:\n  - version: '2'\n", "  versions:\n        - version: '1'\n          template: {a: \"b\n   c\"}\n",
			"  versions:\n    - version: '2'\n    - version: '1'\n      template: {a: \"b c\"}\n",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			application := merging(t, docHead(test.first)+test.first, docHead(test.later)+test.later)
			out := applyTo(t, parseSettings(t, test.config), application)
			if want := docHead(test.first) + test.want; string(out.Document) != want {
				t.Errorf("got:\n%s\nwant:\n%s", out.Document, want)
			}
		})
	}
}

// docHead is head with the line breaks of what follows.
func docHead(spec string) string {
	if strings.Contains(spec, "\r\n") {
		return strings.ReplaceAll(head, "\n", "\r\n")
	}
	return head
}

func TestVersionsOfSeveralSourcesAreAppendedInOrder(t *testing.T) {
	of := func(versions ...string) string {
		text := head + "  versions:\n"
		for _, v := range versions {
			text += "  - version: " + v + "\n    template: {source: {helm: {chartVersion: " + v + ", chartName: " + versions[0] + "}}}\n"
		}
		return text
	}
	out := applyTo(t, parseSettings(t, none), merging(t, of("c.0", "b.0"), of("a.0", "b.0"), of("d.0", "a.0")))
	if got := versionsOf(t, out.Document); !slices.Equal(got, []string{"c.0", "b.0", "a.0", "d.0"}) {
		t.Errorf("versions = %q", got)
	}
	if len(out.Identity.Origins) != 4 || out.Identity.Origins[0] != out.Identity.Origins[1] || out.Identity.Origins[1] == out.Identity.Origins[2] {
		t.Errorf("origins = %q", out.Identity.Origins)
	}
}

func TestCostOfAMergedDocument(t *testing.T) {
	large := func(version string) string {
		return head + "  versions:\n  - version: " + version + "\n    template: " + strings.Repeat("x", 600<<10) + "\n"
	}
	pipeline, err := transform.New(transform.Config{})
	if err != nil {
		t.Fatal(err)
	}
	application := merging(t, large("b"), large("a"))
	_, err = pipeline.Apply(context.Background(), transform.Input{Application: application, Versions: application.Versions})
	const want = `spec.sources: application web: merging versions of the source "old0": the result is larger than 1048576 bytes`
	if err == nil || err.Error() != want {
		t.Errorf("Apply() = %v, want %s", err, want)
	}
}

func TestRandomDocumentsAreMerged(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	list := func(from, n int) string {
		indent := strings.Repeat(" ", 2+r.IntN(4))
		text := "  versions:\n"
		for i := range n {
			if r.IntN(3) == 0 {
				text += indent + "# a comment\n"
			}
			text += indent + "- version: v" + fmt.Sprint(from+i) + "\n"
			if r.IntN(2) == 0 {
				text += indent + "  values: |" + []string{"", "-", "+"}[r.IntN(3)] + "\n" + indent + "    a: 1\n\n" + indent + "      b\n" + []string{"", "\n\n"}[r.IntN(2)]
			}
		}
		return text
	}
	pipeline, err := transform.New(transform.Config{})
	if err != nil {
		t.Fatal(err)
	}
	merged, refused := 0, 0
	for range 300 {
		tail := []string{"", "  method: helm\n", "  # end\n", "...\n"}[r.IntN(4)]
		first, later := head+list(0, 1+r.IntN(4))+tail, head+list(2, 1+r.IntN(4))
		if _, err := tryLoad([]byte(first)); err != nil {
			continue // blank lines at the end
		}
		if _, err := tryLoad([]byte(later)); err != nil {
			continue
		}
		merged++
		application := merging(t, first, later)
		out, err := pipeline.Apply(context.Background(), transform.Input{Application: application, Versions: application.Versions})
		if err != nil && strings.Contains(err.Error(), "kustomize may add") {
			refused++ // an empty line of one, and the comment of the other
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := versionsOf(t, out.Document); !slices.Equal(got, application.Versions) {
			t.Fatalf("versions = %q, want %q in:\n%s\nof:\n%s\nand:\n%s", got, application.Versions, out.Document, first, later)
		}
		load(t, out.Document) // kustomize reads it
	}
	if merged < 100 || refused == 0 || refused > merged/4 {
		t.Errorf("%d documents were merged, and %d of them refused", merged, refused)
	}
}

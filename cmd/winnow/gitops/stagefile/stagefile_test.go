// SPDX-License-Identifier: Apache-2.0

package stagefile_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/stagefile"
	"github.com/winnow-dev/winnow/render/approval"
)

var older, newer = "sha256:" + strings.Repeat("a", 64), "sha256:" + strings.Repeat("b", 64)

const head = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\n"

// find returns the only stage of a content.
func find(t *testing.T, content string) stagefile.Stage {
	t.Helper()
	found, err := stagefile.Find([]byte(content))
	if err != nil || len(found) != 1 || found[0].Name != "a" {
		t.Fatalf("found %+v, %v", found, err)
	}
	return found[0]
}

func TestADigestIsWritten(t *testing.T) {
	for _, test := range []struct {
		name, content string
		// refused is true for a way to write YAML that is not edited.
		refused bool
	}{
		{name: "with comments and another document", content: "# why\n" + head + "metadata:\n  name: a\nspec: # a stage\n  url: oci://x/y\n  ref:\n    # promoted\n    digest: OLD # by hand\n---\nkind: X\n"},
		{name: "in quotes, with line breaks of Windows", content: strings.ReplaceAll(head+"metadata:\n  name: a\nspec:\n  ref: {digest: 'OLD'}\n", "\n", "\r\n")},
		{name: "in a list", content: "apiVersion: v1\nkind: List\nitems:\n- apiVersion: source.toolkit.fluxcd.io/v1\n  kind: OCIRepository\n  metadata:\n    name: a\n  spec:\n    ref:\n      digest: OLD\n"},
		{name: "behind an alias", content: "x: &d OLD\n" + head + "metadata:\n  name: a\nspec:\n  ref:\n    digest: *d\n", refused: true},
		{name: "in a ref that others share", content: "x: &r {digest: OLD}\n" + head + "metadata:\n  name: a\nspec:\n  ref: *r\n", refused: true},
		{name: "encrypted by SOPS", content: head + "metadata:\n  name: a\nspec:\n  ref:\n    digest: OLD\nsops: {}\n", refused: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			content := strings.ReplaceAll(test.content, "OLD", older)
			want := strings.ReplaceAll(test.content, "OLD", newer)
			if test.refused {
				want = ""
			}
			got, err := find(t, content).SetDigest([]byte(content), newer)
			if string(got) != want || (err != nil) != test.refused {
				t.Errorf("%q, %v, want %q", got, err, want)
			}
		})
	}
}

func TestLinesAreAdded(t *testing.T) {
	const spec = "spec:\n  ref:\n    digest: DIGEST\n"
	const noted = head + "metadata:\n  name: a\n  annotations:\n    catalog.winnow.dev/approve: "
	const block = noted + "|\n      loki\n      argocd/1.0.0\n" + spec
	for _, test := range []struct {
		name, content string
		lines         []string
		// want is empty for a way to write YAML that is not edited.
		want string
	}{
		{name: "one", content: head + "metadata:\n  name: a\n" + spec, lines: []string{"loki"}, want: noted + "loki\n" + spec},
		{name: "one with what YAML has a meaning for", content: head + "metadata:\n  name: a\n" + spec, lines: []string{"argocd/2.13.0:live#2"}, want: noted + "argocd/2.13.0:live#2\n" + spec},
		{name: "one that YAML takes for a number", content: head + "metadata:\n  name: a\n" + spec, lines: []string{"12"}, want: noted + "\"12\"\n" + spec},
		{name: "one that YAML 1.1 takes for a boolean", content: head + "metadata:\n  name: a\n" + spec, lines: []string{"on"}, want: noted + "\"on\"\n" + spec},
		{name: "one with a comment and a key in its path", content: head + "metadata:\n  name: a\n" + spec, lines: []string{"loki:locked/a: 'b' #c"}, want: noted + "'loki:locked/a: ''b'' #c'\n" + spec},
		{name: "several", content: head + "metadata:\n  name: a\n" + spec, lines: []string{"loki", "argocd/1.0.0", "loki"}, want: block},
		{
			name: "several with what YAML has a meaning for", content: head + "metadata:\n  name: a\n" + spec, lines: []string{"12", "loki:locked/a: 'b' #c", `loki:locked/"`},
			want: noted + "|\n      12\n      loki:locked/a: 'b' #c\n      loki:locked/\"\n" + spec,
		},
		{name: "to one", content: noted + "loki # why\n" + spec, lines: []string{"argocd/1.0.0"}, want: noted + "| # why\n      loki\n      argocd/1.0.0\n" + spec},
		{name: "to one in quotes", content: noted + "'loki'\n" + spec, lines: []string{"argocd/1.0.0"}, want: block},
		{name: "to several", content: block, lines: []string{"loki#2", "loki"}, want: strings.Replace(block, "argocd/1.0.0\n", "argocd/1.0.0\n      loki#2\n", 1)},
		{
			name: "to a block that strips its last line break, with another indentation, and a comment behind it", content: noted + "|-\n     loki\n\n  # a\n  labels: {}\n" + spec, lines: []string{"argocd"},
			want: noted + "|-\n     loki\n     argocd\n\n  # a\n  labels: {}\n" + spec,
		},
		{name: "to a block at the end of the file", content: strings.Replace(head, "\n", "\n"+spec, 1) + "metadata:\n  name: a\n  annotations:\n    catalog.winnow.dev/approve: |\n      loki", lines: []string{"argocd"}, want: strings.Replace(head, "\n", "\n"+spec, 1) + "metadata:\n  name: a\n  annotations:\n    catalog.winnow.dev/approve: |\n      loki\n      argocd"},
		{name: "to the digest of an earlier release", content: noted + "DIGEST\n" + spec, lines: []string{"loki"}, want: noted + "|\n      DIGEST\n      loki\n" + spec},
		{name: "that are there", content: block, lines: []string{"argocd/1.0.0"}, want: block},
		{
			name: "beside other annotations, with line breaks of Windows", content: strings.ReplaceAll(head+"metadata:\n  annotations:\n    a: b\n  name: a\n"+spec, "\n", "\r\n"), lines: []string{"loki", "argocd"},
			want: strings.ReplaceAll(head+"metadata:\n  annotations:\n    a: b\n    catalog.winnow.dev/approve: |\n      loki\n      argocd\n  name: a\n"+spec, "\n", "\r\n"),
		},
		{
			name: "in a list", content: "apiVersion: v1\nkind: List\nitems:\n- apiVersion: source.toolkit.fluxcd.io/v1\n  kind: OCIRepository\n  metadata:\n    name: a\n  spec:\n    ref:\n      digest: DIGEST\n", lines: []string{"loki", "argocd"},
			want: "apiVersion: v1\nkind: List\nitems:\n- apiVersion: source.toolkit.fluxcd.io/v1\n  kind: OCIRepository\n  metadata:\n    name: a\n    annotations:\n      catalog.winnow.dev/approve: |\n        loki\n        argocd\n  spec:\n    ref:\n      digest: DIGEST\n",
		},
		{name: "to metadata in braces", content: head + "metadata: {name: a}\n" + spec, lines: []string{"loki"}},
		{name: "to annotations in braces", content: head + "metadata:\n  name: a\n  annotations: {catalog.winnow.dev/approve: loki}\n" + spec, lines: []string{"argocd"}},
		{name: "to a folded block", content: noted + ">\n      loki\n      argocd\n" + spec, lines: []string{"velero"}},
		{name: "to escapes", content: noted + "\"loki\\nargocd\"\n" + spec, lines: []string{"velero"}},
		{name: "to an alias", content: "x: &x loki\n" + noted + "*x\n" + spec, lines: []string{"velero"}},
		{name: "to what an alias has", content: noted + "&x loki\n" + spec + "  x: *x\n", lines: []string{"velero"}},
		{name: "to an empty value", content: noted + "\n" + spec, lines: []string{"velero"}},
		{name: "encrypted by SOPS", content: head + "metadata:\n  name: a\n" + spec + "sops: {}\n", lines: []string{"velero"}},
		{name: "that are none", content: head + "metadata:\n  name: a\n" + spec, lines: []string{"loki", "Loki"}},
		{name: "with a line break", content: head + "metadata:\n  name: a\n" + spec, lines: []string{"loki:locked/a\nargocd"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			content, want := strings.ReplaceAll(test.content, "DIGEST", older), strings.ReplaceAll(test.want, "DIGEST", older)
			got, line, err := stagefile.Approve([]byte(content), "a", older, test.lines)
			if string(got) != want || (err != nil) != (want == "") {
				t.Fatalf("%q, %v, want %q", got, err, want)
			}
			if at := strings.Split(string(got), "\n"); err == nil && !strings.Contains(at[line-1], "catalog.winnow.dev/approve: ") {
				t.Errorf("line %d is %q", line, at[line-1])
			}
		})
	}
}

func TestTextThatIsNoDigestIsNotWritten(t *testing.T) {
	content := head + "metadata:\n  name: a\nspec:\n  ref:\n    digest: " + older + "\n"
	for _, text := range []string{"", "latest", "sha256:12ab", newer + "\nevil: true", newer + " "} {
		if _, err := find(t, content).SetDigest([]byte(content), text); err == nil {
			t.Errorf("the digest %q is written", text)
		}
	}
	if _, _, err := stagefile.Approve([]byte(content), "a", newer, []string{"loki"}); err == nil {
		t.Error("a line is added to a stage with another digest")
	}
}

func FuzzFind(f *testing.F) {
	f.Add([]byte(head+"metadata: {name: a}\nspec: {ref: {digest: "+older+"}}\n"), "loki")
	f.Add([]byte("kind: List\nitems: [{kind: List, items: [*a]}]\n"), "loki")
	for _, value := range []string{"", "\n  annotations:\n    catalog.winnow.dev/approve: loki # why", "\n  annotations:\n    catalog.winnow.dev/approve: |+\n     loki\n\n"} {
		f.Add([]byte(head+"metadata:\n  name: a"+value+"\nspec:\n  ref:\n    digest: "+older+"\n"), "argocd:locked/a: #\"")
	}
	f.Fuzz(func(t *testing.T, content []byte, line string) {
		found, err := stagefile.Find(content)
		if err != nil {
			return
		}
		for i, s := range found {
			if edited, err := s.SetDigest(content, newer); err == nil {
				again, err := stagefile.Find(edited)
				if err != nil || len(again) != len(found) || again[i].Digest != newer {
					t.Errorf("%q: %q has %+v: %v", content, edited, again, err)
				}
			}
		}
		if len(found) == 0 {
			return
		}
		edited, _, err := stagefile.Approve(content, found[0].Name, found[0].Digest, []string{line, "velero"})
		if err != nil {
			return
		}
		again, err := stagefile.Find(edited)
		had, has := stagefile.Lines(found[0].Approval), stagefile.Lines(again[0].Approval)
		if _, malformed := approval.Parse(line); err != nil || malformed != nil || len(again) != len(found) || !slices.Equal(has[:len(had)], had) || !slices.Contains(has, line) || !slices.Contains(has, "velero") {
			t.Errorf("%q: %q has %+v: %v", content, edited, again, err)
		}
	})
}

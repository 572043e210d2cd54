// SPDX-License-Identifier: Apache-2.0

package stagefile_test

import (
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/stagefile"
)

var older, newer = "sha256:" + strings.Repeat("a", 64), "sha256:" + strings.Repeat("b", 64)

const head = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\n"

func TestAStageIsEdited(t *testing.T) {
	for _, test := range []struct {
		name, content string
		// promoted is the content with the digest, and approved that with the approval in addition; empty for an error.
		promoted, approved string
	}{
		{
			name:     "with comments and another document",
			content:  "# why\n" + head + "metadata:\n  name: a\nspec: # a stage\n  url: oci://x/y\n  ref:\n    # promoted\n    digest: OLD # by hand\n---\nkind: X\n",
			promoted: "# why\n" + head + "metadata:\n  name: a\nspec: # a stage\n  url: oci://x/y\n  ref:\n    # promoted\n    digest: NEW # by hand\n---\nkind: X\n",
			approved: "# why\n" + head + "metadata:\n  name: a\n  annotations:\n    catalog.winnow.dev/approve: NEW\nspec: # a stage\n  url: oci://x/y\n  ref:\n    # promoted\n    digest: NEW # by hand\n---\nkind: X\n",
		},
		{
			name:     "in quotes, with annotations, and line breaks of Windows",
			content:  strings.ReplaceAll(head+"metadata:\n  annotations:\n    a: b\n  name: a\nspec:\n  ref: {digest: 'OLD'}\n", "\n", "\r\n"),
			promoted: strings.ReplaceAll(head+"metadata:\n  annotations:\n    a: b\n  name: a\nspec:\n  ref: {digest: 'NEW'}\n", "\n", "\r\n"),
			approved: strings.ReplaceAll(head+"metadata:\n  annotations:\n    a: b\n    catalog.winnow.dev/approve: NEW\n  name: a\nspec:\n  ref: {digest: 'NEW'}\n", "\n", "\r\n"),
		},
		{
			name:     "with a former approval",
			content:  head + "metadata:\n  name: a\n  annotations:\n    catalog.winnow.dev/approve: \"OLD\"\nspec:\n  ref:\n    digest: \"OLD\"",
			promoted: head + "metadata:\n  name: a\n  annotations:\n    catalog.winnow.dev/approve: \"OLD\"\nspec:\n  ref:\n    digest: \"NEW\"",
			approved: head + "metadata:\n  name: a\n  annotations:\n    catalog.winnow.dev/approve: \"NEW\"\nspec:\n  ref:\n    digest: \"NEW\"",
		},
		{
			name: "in a list", content: "apiVersion: v1\nkind: List\nitems:\n- apiVersion: source.toolkit.fluxcd.io/v1\n  kind: OCIRepository\n  metadata:\n    name: a\n  spec:\n    ref:\n      digest: OLD\n",
			promoted: "apiVersion: v1\nkind: List\nitems:\n- apiVersion: source.toolkit.fluxcd.io/v1\n  kind: OCIRepository\n  metadata:\n    name: a\n  spec:\n    ref:\n      digest: NEW\n",
			approved: "apiVersion: v1\nkind: List\nitems:\n- apiVersion: source.toolkit.fluxcd.io/v1\n  kind: OCIRepository\n  metadata:\n    name: a\n    annotations:\n      catalog.winnow.dev/approve: NEW\n  spec:\n    ref:\n      digest: NEW\n",
		},
		{
			name: "with metadata in braces", content: head + "metadata: {name: a}\nspec:\n  ref:\n    digest: OLD\n",
			promoted: head + "metadata: {name: a}\nspec:\n  ref:\n    digest: NEW\n",
		},
		{name: "a digest behind an alias", content: "x: &d OLD\n" + head + "metadata:\n  name: a\nspec:\n  ref:\n    digest: *d\n"},
		{name: "a ref that others share", content: "x: &r {digest: OLD}\n" + head + "metadata:\n  name: a\nspec:\n  ref: *r\n"},
		{name: "encrypted by SOPS", content: head + "metadata:\n  name: a\nspec:\n  ref:\n    digest: OLD\nsops: {}\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := func(s string) string { return strings.NewReplacer("OLD", older, "NEW", newer).Replace(s) }
			found, err := stagefile.Find([]byte(text(test.content)))
			if err != nil || len(found) != 1 || found[0].Name != "a" || found[0].Digest != older {
				t.Fatalf("found %+v, %v", found, err)
			}
			promoted, err := found[0].SetDigest([]byte(text(test.content)), newer)
			if string(promoted) != text(test.promoted) || (err != nil) != (test.promoted == "") {
				t.Fatalf("%q, %v, want %q", promoted, err, text(test.promoted))
			}
			if err != nil {
				return
			}
			found, err = stagefile.Find(promoted)
			if err != nil || len(found) != 1 {
				t.Fatalf("found %+v, %v", found, err)
			}
			approved, err := found[0].Approve(promoted, newer)
			if string(approved) != text(test.approved) || (err != nil) != (test.approved == "") {
				t.Errorf("%q, %v, want %q", approved, err, text(test.approved))
			}
		})
	}
}

func TestTextThatIsNoDigestIsNotWritten(t *testing.T) {
	content := []byte(head + "metadata:\n  name: a\nspec:\n  ref:\n    digest: " + older + "\n")
	found, err := stagefile.Find(content)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "latest", "sha256:12ab", newer + "\nevil: true", newer + " "} {
		if _, err := found[0].SetDigest(content, text); err == nil {
			t.Errorf("the digest %q is written", text)
		}
		if _, err := found[0].Approve(content, text); err == nil {
			t.Errorf("the approval %q is written", text)
		}
	}
}

func FuzzFind(f *testing.F) {
	f.Add([]byte(head + "metadata: {name: a}\nspec: {ref: {digest: " + older + "}}\n"))
	f.Add([]byte("kind: List\nitems: [{kind: List, items: [*a]}]\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		found, err := stagefile.Find(content)
		if err != nil {
			return
		}
		for i, s := range found {
			edited, err := s.SetDigest(content, newer)
			if err != nil {
				continue
			}
			again, err := stagefile.Find(edited)
			if err != nil || len(again) != len(found) || again[i].Digest != newer {
				t.Errorf("%q: %q has %+v: %v", content, edited, again, err)
			}
		}
	})
}

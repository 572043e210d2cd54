// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"unicode"
)

func TestCheckPath(t *testing.T) {
	element := strings.Repeat("e", MaxElementLength)
	longest := strings.Repeat(element[1:]+"/", 4) + "eeee"
	for _, tc := range []struct {
		name   string
		path   string
		reason string
	}{
		{name: "a name is safe", path: "a"},
		{name: "directories are safe", path: "applications/argo-cd/application.yaml"},
		{name: "hidden files are safe", path: ".config/.x"},
		{name: "spaces, letters and signs of any kind are safe", path: "a b/größe/日本/👍/-x~+@:"},
		{name: "dots within a name are safe", path: "a..b/..c/...x/d.."},
		{name: "an element at the limit is safe", path: element + "/" + element},
		{name: "a path at the limit is safe", path: longest},
		{name: "the empty path is refused", path: "", reason: "path is empty"},
		{name: "the root is refused", path: ".", reason: "path is the root"},
		{name: "an absolute path is refused", path: "/etc/passwd", reason: "path is absolute"},
		{name: "climbing out is refused", path: "../x", reason: `path has a ".." element`},
		{name: "climbing within is refused", path: "a/../b", reason: `path has a ".." element`},
		{name: "climbing at the end is refused", path: "a/..", reason: `path has a ".." element`},
		{name: "what Flux takes for climbing is refused", path: "a../b", reason: `path has a directory whose name ends in ".."`},
		{name: "a dot element is refused", path: "a/./b", reason: `path has a "." element`},
		{name: "a leading dot element is refused", path: "./a", reason: `path has a "." element`},
		{name: "two slashes are refused", path: "a//b", reason: "path has an empty element"},
		{name: "a slash at the end is refused", path: "a/", reason: "path has an empty element"},
		{name: "a backslash is refused", path: `a\b`, reason: "path contains a backslash"},
		{name: "NUL is refused", path: "a\x00b", reason: "path contains a control character"},
		{name: "a newline is refused", path: "a\nb", reason: "path contains a control character"},
		{name: "delete is refused", path: "a\x7fb", reason: "path contains a control character"},
		{name: "a control character beyond ASCII is refused", path: "a\u0085b", reason: "path contains a control character"},
		{name: "invalid UTF-8 is refused", path: "a\xffb", reason: "path is not valid UTF-8"},
		{name: "an element over the limit is refused", path: "a/" + element + "e", reason: "path has an element longer than 255 bytes"},
		{name: "a path over the limit is refused", path: longest + "e", reason: "path is longer than 1024 bytes"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			checkReason(t, CheckPath(tc.path), tc.path, tc.reason)
		})
	}
}

func TestAPathErrorIsShort(t *testing.T) {
	err := CheckPath(strings.Repeat("\x01", 1<<20))
	var refused *PathError
	if !errors.As(err, &refused) || len(refused.Path) != 1<<20 {
		t.Fatalf("error does not carry the path: %T", err)
	}
	if len(err.Error()) > 1024 {
		t.Errorf("error has %d bytes", len(err.Error()))
	}
}

func FuzzCheckPath(f *testing.F) {
	for _, path := range []string{"a", "a/b", ".", "..", "/a", "a/", "a//b", `a\b`, "a\n", "\xff", "a../b", strings.Repeat("a", 256)} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if CheckPath(path) != nil {
			return
		}
		if !fs.ValidPath(path) || path == "." || len(path) > MaxPathLength {
			t.Errorf("%q is not a path of fs.FS, the root or too long", path)
		}
		if strings.ContainsFunc(path, unicode.IsControl) || strings.ContainsAny(path, "\\\x00\n") || strings.Contains(path, "../") {
			t.Errorf("%q is not safe", path)
		}
		tree := newTree(t, path)
		if _, err := fs.ReadFile(tree.FS(), path); err != nil {
			t.Errorf("reading %q back: %v", path, err)
		}
	})
}

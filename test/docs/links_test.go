// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

var (
	fence   = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	code    = regexp.MustCompile("`(?:[^`\n]|\n[^`\n])*`")
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)|(?m:^\[[^\]]+\]: (\S+)$)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	label   = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	dropped = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
	mention = regexp.MustCompile(`(?:^|[^\w/])(docs/[a-z0-9/_-]+\.md(?:#[\w-]+)?)`)
)

func TestLinksBetweenPagesLeadSomewhere(t *testing.T) {
	checked, known := 0, headings{}
	for _, page := range files(t, ".md") {
		if strings.Contains(page, "/testdata/") {
			continue
		}
		text := code.ReplaceAllString(fence.ReplaceAllString(read(t, page), ""), "")
		for _, match := range link.FindAllStringSubmatch(text, -1) {
			target := match[1] + match[2]
			if strings.Contains(target, "://") {
				continue
			}
			checked++
			path, anchor, _ := strings.Cut(target, "#")
			if path = filepath.Join(filepath.Dir(page), path); strings.HasPrefix(target, "#") {
				path = page
			}
			if err := known.leadsTo(path, anchor); err != nil {
				t.Errorf("%s links to %s: %v", name(t, page), target, err)
			}
		}
	}
	if checked == 0 {
		t.Error("no page has a link")
	}
}

// Comments, errors and the help of the command line mention pages by their path in the repository.
func TestMentionedPagesExist(t *testing.T) {
	known := headings{}
	for _, file := range files(t, ".go", ".yaml", ".yml", ".sh", ".txtar", ".md") {
		text := read(t, file)
		if !strings.Contains(text, "docs/") {
			continue // the pattern is slow under the race detector
		}
		for _, match := range mention.FindAllStringSubmatch(text, -1) {
			path, anchor, _ := strings.Cut(match[1], "#")
			if err := known.leadsTo(filepath.Join(root, path), anchor); err != nil {
				t.Errorf("%s mentions %s: %v", name(t, file), match[1], err)
			}
		}
	}
}

// headings maps pages that were read to the anchors of their headings.
type headings map[string][]string

func (h headings) leadsTo(path, anchor string) error {
	if _, err := os.Stat(path); err != nil || anchor == "" {
		return err
	}
	if _, known := h[path]; !known {
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		h[path] = anchors(string(content))
	}
	if !slices.Contains(h[path], anchor) {
		return fmt.Errorf("no heading #%s", anchor)
	}
	return nil
}

// anchors returns the anchors of the headings of a page on GitHub, which numbers repeated headings.
func anchors(text string) (found []string) {
	seen := map[string]int{}
	for _, match := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		words := dropped.ReplaceAllString(strings.ToLower(label.ReplaceAllString(match[1], "$1")), "")
		anchor := strings.ReplaceAll(words, " ", "-")
		if n := seen[anchor]; n > 0 {
			found = append(found, fmt.Sprintf("%s-%d", anchor, n))
		} else {
			found = append(found, anchor)
		}
		seen[anchor]++
	}
	return found
}

func TestAnchorsAreThoseOfGitHub(t *testing.T) {
	text := "# A `b.c` [d](e.md)\n```sh\n# no heading\n```\n## What's new?\n## Sources\n### Sources\n"
	if got, want := anchors(text), []string{"a-bc-d", "whats-new", "sources", "sources-1"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// files lists the files of the repository with one of these extensions. It leaves out hidden directories, except
// GitHub's, and golden data, whose text belongs to the applications in it.
func files(t *testing.T, extensions ...string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := entry.Name()
		hidden := strings.HasPrefix(base, ".") && path != root && base != ".github"
		if entry.IsDir() && (hidden || base == "golden" || base == "bin") {
			return fs.SkipDir
		}
		if entry.Type().IsRegular() && slices.Contains(extensions, filepath.Ext(path)) {
			found = append(found, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func name(t *testing.T, path string) string {
	t.Helper()
	relative, err := filepath.Rel(root, path)
	if err != nil {
		t.Fatal(err)
	}
	return relative
}

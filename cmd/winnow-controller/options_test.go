// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	flag "github.com/spf13/pflag"
)

var (
	usage = regexp.MustCompile(`(?m)^ +(?:-\w, )?--([a-z-]+).*?(?: \(default "?([^"\n]+?)"?\))?$`)
	row   = regexp.MustCompile("(?m)^\\| `--([a-z-]+)` \\|(?: `(.+?)`)? \\| ")
)

// The page has a row for each flag, with its default, in the order of --help.
func TestEveryFlagIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/controller.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented, flags []string
	for _, match := range row.FindAllStringSubmatch(string(page), -1) {
		documented = append(documented, strings.TrimSpace(match[1]+" "+strings.TrimSuffix(match[2], "false")))
	}
	for _, match := range usage.FindAllStringSubmatch(help(t), -1) {
		flags = append(flags, strings.TrimSpace(match[1]+" "+match[2]))
	}
	if !slices.Equal(documented, flags) {
		t.Errorf("docs/controller.md has\n%s\nand --help\n%s", strings.Join(documented, "\n"), strings.Join(flags, "\n"))
	}
}

// help returns what --help prints on standard error.
func help(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "help")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	stderr := os.Stderr
	os.Stderr = file
	_, err = parse([]string{"--help"})
	os.Stderr = stderr
	if !errors.Is(err, flag.ErrHelp) {
		t.Error(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

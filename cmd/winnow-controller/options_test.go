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

	helper "github.com/fluxcd/pkg/runtime/controller"
	flag "github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
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

// What nothing reads takes no memory in the caches.
func TestCachesKeepNoManagedFields(t *testing.T) {
	options, err := cacheOptions(helper.WatchOptions{AllNamespaces: true})
	if err != nil {
		t.Fatal(err)
	}
	cs := &v1alpha1.CatalogSelection{}
	cs.Name, cs.ManagedFields = "kkp", []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
	if _, err := options.DefaultTransform(cs); err != nil || cs.ManagedFields != nil || cs.Name != "kkp" {
		t.Errorf("a cache keeps %v, %v", cs.ObjectMeta, err)
	}
	for object, own := range options.ByObject {
		if own.Transform != nil {
			t.Errorf("%T has a transform of its own", object)
		}
	}
}

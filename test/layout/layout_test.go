// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"bufio"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	// maxLoops is the share of all files that may stand in loops, in percent.
	maxLoops = 10
	// maxLoopsOfPackage is that of the files of a package. Two files may always need each other.
	maxLoopsOfPackage = 20
	maxLines          = 400
)

// heaps are names of files and packages that hold whatever is left.
var heaps = []string{"types", "base", "common", "ground", "util", "helpers"}

// A file uses another one if it names an identifier of the package that the other declares, or calls a method. Files that
// use each other in a loop can only be read together.
func TestFilesCanBeReadAlone(t *testing.T) {
	total, looping := 0, 0
	for dir, files := range packages(t) {
		uses := usesOf(t, dir, files)
		loops := inLoops(uses)
		total, looping = total+len(files), looping+len(loops)
		allowed := max(2, len(files)*maxLoopsOfPackage/100)
		if len(loops) > allowed {
			t.Errorf("%s has %d of %d files in loops, at most %d: %s", dir, len(loops), len(files), allowed, strings.Join(loops, " "))
		}
	}
	t.Logf("%d of %d files are in loops", looping, total)
	if looping*100 > total*maxLoops {
		t.Errorf("%d of %d files are in loops, at most %d %%", looping, total, maxLoops)
	}
}

func TestFilesHoldOneConcept(t *testing.T) {
	for dir, files := range packages(t) {
		if slices.Contains(heaps, filepath.Base(dir)) {
			t.Errorf("%s is named after no concept", dir)
		}
		for _, file := range files {
			if slices.Contains(heaps, strings.TrimSuffix(filepath.Base(file), ".go")) {
				t.Errorf("%s is named after no concept", file)
			}
			if lines := linesOf(t, file); lines > maxLines {
				t.Errorf("%s has %d lines, at most %d", file, lines, maxLines)
			}
		}
	}
}

// What a package has found for the status of a selection, it returns: only the reconciler writes it.
func TestOnePackageWritesTheStatus(t *testing.T) {
	for dir, files := range packages(t) {
		if !strings.HasPrefix(dir, "controllers/") {
			continue
		}
		for _, file := range files {
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(parsed, func(n ast.Node) bool {
				assignment, ok := n.(*ast.AssignStmt)
				if ok && slices.ContainsFunc(assignment.Lhs, func(e ast.Expr) bool { return strings.HasPrefix(types.ExprString(e), "cs.Status") }) {
					t.Errorf("%s assigns cs.Status", file)
				}
				return true
			})
		}
	}
}

// yamlReaders are the packages that parse YAML, each by the reader that it names: docs/design/dialects.md.
var yamlReaders = []string{"render/dialect", "render/yamlnode", "render/catalog/filebased/jsontext"}

var yamlParse = regexp.MustCompile(`\byaml\.(Unmarshal|UnmarshalStrict|YAMLToJSON|YAMLToJSONStrict|NewDecoder|Parse)\(`)

// All else is read by them: two libraries read other values from the same file.
func TestYAMLIsReadByItsDialect(t *testing.T) {
	readers := 0
	for dir, files := range packages(t) {
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			switch parses := yamlParse.Match(content); {
			case parses && slices.Contains(yamlReaders, dir):
				readers++
			case parses:
				t.Errorf("%s parses YAML: use render/dialect", file)
			}
		}
	}
	if readers == 0 {
		t.Error("nothing parses YAML")
	}
}

// packages maps the directories of the product, relative to the repository, to their files without tests and generated ones.
func packages(t *testing.T) map[string][]string {
	t.Helper()
	t.Chdir("../..")
	found := map[string][]string{}
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && (path == "test" || name == "testdata" || len(name) > 1 && strings.HasPrefix(name, ".")) {
			return filepath.SkipDir
		}
		if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && !strings.HasPrefix(name, "zz_generated") {
			found[filepath.Dir(path)] = append(found[filepath.Dir(path)], path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// usesOf maps each file of a package to the files that it uses. What other packages declare is not resolved.
func usesOf(t *testing.T, dir string, files []string) map[string]map[string]bool {
	t.Helper()
	positions := token.NewFileSet()
	uses := map[string]map[string]bool{}
	var parsed []*ast.File
	for _, file := range files {
		content, err := parser.ParseFile(positions, file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		parsed, uses[filepath.Base(file)] = append(parsed, content), map[string]bool{}
	}
	names := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	check := types.Config{Importer: importer.ForCompiler(positions, "none", nil), Error: func(error) {}}
	pkg, _ := check.Check(dir, positions, parsed, names) // imports are errors
	fileOf := func(at token.Pos) string { return filepath.Base(positions.Position(at).Filename) }
	for name, object := range names.Uses {
		if object.Pkg() != pkg || !object.Pos().IsValid() {
			continue
		}
		function, isFunction := object.(*types.Func)
		isMethod := isFunction && function.Signature().Recv() != nil
		if from, to := fileOf(name.Pos()), fileOf(object.Pos()); from != to && (isMethod || object.Parent() == pkg.Scope()) {
			uses[from][to] = true
		}
	}
	return uses
}

// inLoops returns the files from which uses lead back to them.
func inLoops(uses map[string]map[string]bool) []string {
	var loops []string
	for file := range uses {
		if reaches(uses, file, file, map[string]bool{}) {
			loops = append(loops, file)
		}
	}
	slices.Sort(loops)
	return loops
}

func reaches(uses map[string]map[string]bool, from, to string, seen map[string]bool) bool {
	for next := range maps.Keys(uses[from]) {
		if next == to {
			return true
		}
		if !seen[next] {
			seen[next] = true
			if reaches(uses, next, to, seen) {
				return true
			}
		}
	}
	return false
}

func linesOf(t *testing.T, file string) int {
	t.Helper()
	content, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close()
	lines := 0
	for scanner := bufio.NewScanner(content); scanner.Scan(); {
		lines++
	}
	return lines
}

func TestLoopsAreFound(t *testing.T) {
	uses := map[string]map[string]bool{
		"a": {"b": true}, "b": {"c": true, "d": true}, "c": {"a": true}, "d": {"e": true}, "e": {},
	}
	if got := fmt.Sprint(inLoops(uses)); got != "[a b c]" {
		t.Errorf("inLoops() = %s", got)
	}
}

package main

import (
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"path/filepath"
	"strings"
	"testing"
)

// A verb is in a file, or in several whose names begin with it. Code of two verbs is in a file of neither, or in a
// package below.
func TestNoFileUsesWhatAVerbDeclares(t *testing.T) {
	verbs := map[string]bool{}
	for _, cmd := range newRootCommand().Commands() {
		verbs[cmd.Name()] = true
	}
	verbOf := func(name string) string {
		first, _, _ := strings.Cut(strings.TrimSuffix(name, ".go"), "_")
		if verbs[first] {
			return first
		}
		return ""
	}
	files, declared := sourceFiles(t), map[string]string{} // declarations mapped to verbs
	for name, file := range files {
		for declaration := range file.Scope.Objects {
			if verb := verbOf(name); verb != "" {
				declared[declaration] = verb
			}
		}
	}
	if len(declared) < len(verbs) {
		t.Fatalf("verbs declare %v", declared)
	}
	for name, file := range files {
		if name == "main.go" { // main.go uses all verbs
			continue
		}
		for _, used := range file.Unresolved {
			if verb := declared[used.Name]; verb != "" && verb != verbOf(name) {
				t.Errorf("%s uses %s, which belongs to %s", name, used.Name, verb)
			}
		}
	}
}

// sourceFiles maps the names of the files of this package, without tests, to their syntax trees.
func sourceFiles(t *testing.T) map[string]*ast.File {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]*ast.File{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(gotoken.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = file
	}
	return files
}

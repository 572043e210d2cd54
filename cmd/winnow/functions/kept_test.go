// SPDX-License-Identifier: Apache-2.0

package functions

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const programText = "#!/bin/sh\n"

func hashOfText(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

// programRuntime is the annotations that resolve writes for a program with a hash.
func programRuntime(file, recorded string) string {
	text := "    config.kubernetes.io/function: |\n      exec:\n        path: " + file + "\n"
	if recorded != "" {
		text += "    catalog.winnow.dev/function-digest: sha256:" + recorded + "\n"
	}
	return text
}

func imageRuntime(image, recorded string) string {
	return strings.Replace(strings.Replace(programRuntime(image, recorded), "exec:", "container:", 1), "path:", "image:", 1)
}

// What is resolved is verified at each resolve, and compared with the catalog.
func TestWhatACatalogSuppliedIsVerified(t *testing.T) {
	one, other, program := strings.Repeat("0a", 32), strings.Repeat("1b", 32), hashOfText(programText)
	image := func(hash string) string { return "{container: {image: 'a:v1', sha256: " + hash + "}}" }
	exec := func(hash string) string {
		return "{exec: {platforms: [{os: linux, arch: amd64, uri: bin/run, sha256: " + hash + "}]}}"
	}
	for _, test := range []struct {
		name, annotations, catalog string
		version                    string // of the function in the catalog, by default v1
		update                     bool
		// problem, stale and written are parts of what is found.
		problem, stale, written string
		flags                   string
	}{
		{name: "an image as the catalog has it", annotations: imageRuntime("a:v1@sha256:"+one, one), catalog: image(one), flags: "--enable-alpha-plugins"},
		{name: "another digest in the catalog", annotations: imageRuntime("a:v1@sha256:"+one, one), catalog: image(other), stale: "the catalog has another runtime", flags: "--enable-alpha-plugins"},
		{name: "another version in the catalog", annotations: imageRuntime("a:v1@sha256:"+one, one), catalog: image(one), version: "v2", stale: "is resolved, but is in no catalog: c has it in v2: name the catalog", flags: "--enable-alpha-plugins"},
		{name: "another version in the catalog than an image of its own has", annotations: imageRuntime("a:v1@sha256:"+one, ""), catalog: image(one), version: "v2", flags: "--enable-alpha-plugins"},
		{name: "another digest, updated", annotations: imageRuntime("a:v1@sha256:"+one, one), catalog: image(other), update: true, written: "image: a:v1@sha256:" + other, flags: "--enable-alpha-plugins"},
		{name: "an image of the config's own", annotations: imageRuntime("a:v0@sha256:"+one, ""), catalog: image(other), update: true, flags: "--enable-alpha-plugins"},
		{name: "an image that was changed by hand", annotations: imageRuntime("a:v1@sha256:"+other, one), catalog: image(one), problem: "with which it was resolved"},
		{name: "a program as the catalog has it", annotations: programRuntime("./bin/run", program), catalog: exec(program), flags: "--enable-alpha-plugins --enable-exec"},
		{name: "the program of a catalog, without a record", annotations: programRuntime("./bin/run", ""), catalog: exec(program), flags: "--enable-alpha-plugins --enable-exec"},
		{name: "a program that was changed", annotations: programRuntime("./bin/run", one), catalog: exec(one), problem: "with which it was resolved"},
		{name: "a program that was changed, without a catalog", annotations: programRuntime("./bin/run", one), problem: "with which it was resolved"},
		{name: "a program that is gone", annotations: programRuntime("./bin/gone", program), catalog: exec(program), problem: "does not exist"},
		{name: "a path that links could lead elsewhere", annotations: programRuntime("./link/../bin/run", program), catalog: exec(program), problem: "with ./ or ../ at the beginning alone"},
		{name: "a record that a file has made up", annotations: programRuntime("./bin/run", program), problem: "pass --enable-exec to allow it"},
		{name: "a program that the catalog does not have any more", annotations: programRuntime("./bin/run", program), catalog: exec(one), problem: "pass --enable-exec to allow it"},
		{name: "a program instead of an image, updated", annotations: programRuntime("./bin/run", program), catalog: image(one), update: true, written: "image: a:v1@sha256:" + one, flags: "--enable-alpha-plugins"},
		{name: "a program of the catalog with a library of the repository", annotations: programRuntime("./bin/run\n        envs: [LD_PRELOAD=./evil.so]", program), catalog: exec(program), problem: "pass --enable-exec to allow it"},
		{name: "the same, without a record", annotations: programRuntime("./bin/run\n        envs: [LD_PRELOAD=./evil.so]", ""), catalog: exec(program), problem: "pass --enable-exec to allow it"},
		{name: "a copy of the program, which may load what lies beside it", annotations: programRuntime("./copy/run", program), catalog: exec(program), problem: "pass --enable-exec to allow it"},
		{name: "a copy of the program, without a record", annotations: programRuntime("./copy/run", ""), catalog: exec(program), problem: "pass --enable-exec to allow it"},
		{name: "a copy of the program, updated", annotations: programRuntime("./copy/run", program), catalog: exec(program), update: true, written: "path: ./bin/run", flags: "--enable-alpha-plugins --enable-exec"},
		{name: "a program of the catalog with arguments", annotations: programRuntime("./bin/run\n        args: [-c, id]", program), catalog: exec(program), problem: "pass --enable-exec to allow it"},
		{name: "a program of the catalog with arguments, updated", annotations: programRuntime("./bin/run\n        args: [-c, id]", program), catalog: image(one), update: true, written: "image: a:v1@sha256:" + one, flags: "--enable-alpha-plugins"},
		{name: "an image of the catalog with a variable", annotations: imageRuntime("a:v1@sha256:"+one+"\n        envs: [MODE=off]", one), catalog: image(one), stale: "the catalog has another runtime", flags: "--enable-alpha-plugins"},
		{name: "a record that is none", annotations: programRuntime("./bin/run", "x"), problem: "has no digest in the annotation"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			files := map[string]string{"kustomization.yaml": "transformers: [a.yaml]\n", "a.yaml": configText("a") + "  annotations:\n" + test.annotations, "bin/run": programText, "copy/run": programText}
			for name := range maps.Keys(files) {
				file := filepath.Join(dir, filepath.FromSlash(name))
				if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(files[name]), 0o755)); err != nil {
					t.Fatal(err)
				}
			}
			o := Options{Root: dir, Dir: ".", OS: "linux", Arch: "amd64", Update: test.update}
			if test.catalog != "" {
				loaded := loadText(t, "apiVersion: config.kubernetes.io/v1alpha1\nkind: Catalog\nspec:\n  krmFunctions:\n  - {group: e.com, kind: A, versions: [{name: "+cmp.Or(test.version, "v1")+"}], runtime: "+test.catalog+"}\n")
				o.Catalogs = []string{"c"}
				o.Open = func(context.Context, string) (*Source, error) {
					return &Source{Catalog: loaded, Reference: "c", Dir: dir}, nil
				}
			}
			result, err := Resolve(t.Context(), o)
			if test.problem != "" {
				if err == nil || !strings.Contains(err.Error(), test.problem) {
					t.Errorf("err = %v, want %s", err, test.problem)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if stale := fmt.Sprint(result.Stale); (test.stale != "") != (len(result.Stale) == 1) || !strings.Contains(stale, test.stale) {
				t.Errorf("stale: %s", stale)
			}
			if written := string(result.Files["a.yaml"]); (test.written != "") != (written != "") || !strings.Contains(written, test.written) {
				t.Errorf("written:\n%s", written)
			}
			if flags := strings.Join(result.Flags, " "); flags != test.flags {
				t.Errorf("flags are %s", flags)
			}
		})
	}
}

// The path of a program is relative to the kustomization, which -o copies, and may lead out of the copy.
func TestAProgramIsReadWhereItWillRun(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"app/kustomization.yaml": "transformers: [a.yaml]\n", "bin/run": programText, "out/bin/run": programText + "evil\n",
		"app/a.yaml": configText("a") + "  annotations:\n" + programRuntime("../bin/run", hashOfText(programText)),
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(content), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	for output, want := range map[string]string{"": "", "copy": "", "out/app": "with which it was resolved", "none/app": "does not exist"} {
		o := Options{Root: filepath.Join(dir, "app"), Dir: ".", Exec: true}
		if output != "" {
			o.Output = filepath.Join(dir, filepath.FromSlash(output))
		}
		if _, err := Resolve(t.Context(), o); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("to %q: %v, want %q", output, err, want)
		}
	}
}

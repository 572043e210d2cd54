#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Packages: github.com/fluxcd/pkg/artifact v0.18.1 (the storage of source-controller), github.com/fluxcd/pkg/kustomize v1.35.6 (the
# build of kustomize-controller).
#
# Expected: patterns in spec.ignore that exclude each file of a directory have the effect of a directory that is not in Git: the
# Kustomization fails with "path not found", and prunes nothing.
# Seen: the archive keeps the directory itself, without files, since a pattern for files matches no directory. The Generator writes
# a kustomization.yaml with the namespace "_placeholder" into it, so that the build succeeds with no object: Flux prunes all.
# With a pattern for the directory, "/clusters/p/**", it is not in the archive, and the build fails.
# What to do: exclude files of a Kustomization's path with deletionPolicy or prune: disabled in mind, and compare with a build.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
cat >main.go <<'GO'
package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/artifact/config"
	"github.com/fluxcd/pkg/artifact/storage"
	"github.com/fluxcd/pkg/kustomize"
	"github.com/fluxcd/pkg/sourceignore"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// unpack writes what an archive has to a directory.
func unpack(archive, to string) {
	file, err := os.Open(archive)
	check(err)
	content, err := gzip.NewReader(file)
	check(err)
	for entries := tar.NewReader(content); ; {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		check(err)
		name := filepath.Join(to, entry.Name)
		if entry.Typeflag == tar.TypeDir {
			check(os.MkdirAll(name, 0o755))
			continue
		}
		check(os.MkdirAll(filepath.Dir(name), 0o755))
		text, err := io.ReadAll(entries)
		check(err)
		check(os.WriteFile(name, text, 0o644))
	}
}

func main() {
	work, err := os.MkdirTemp("", "finding")
	check(err)
	defer os.RemoveAll(work)
	checkout := filepath.Join(work, "checkout")
	check(os.MkdirAll(filepath.Join(checkout, "clusters/p"), 0o755))
	check(os.WriteFile(filepath.Join(checkout, "clusters/p/a.yaml"), []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"), 0o644))
	s, err := storage.New(&config.Options{StoragePath: work, StorageAddress: "localhost:0", StorageAdvAddress: "localhost", ArtifactDigestAlgo: "sha256"})
	check(err)
	for _, pattern := range []string{"/clusters/p/*.yaml", "/clusters/p/**"} {
		domain := strings.Split(checkout, "/")
		artifact := meta.Artifact{Path: "archive.tar.gz"}
		check(s.Archive(&artifact, checkout, storage.SourceIgnoreFilter(sourceignore.ReadPatterns(strings.NewReader(pattern), domain), domain)))
		root, err := os.MkdirTemp(work, "artifact")
		check(err)
		unpack(s.LocalPath(artifact), root)
		path := filepath.Join(root, "clusters/p")
		if _, err := os.Stat(path); err != nil {
			fmt.Printf("%s: the path is not in the artifact\n", pattern)
			continue
		}
		object := unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"path": "./clusters/p", "prune": true}}}
		_, err = kustomize.NewGenerator(root, object).WriteFile(path)
		check(err)
		built, err := kustomize.Build(filesys.MakeFsOnDisk(), path)
		check(err)
		fmt.Printf("%s: the build succeeds with %d objects\n", pattern, built.Size())
	}
}
GO
{
  go mod init example.com/finding
  go get github.com/fluxcd/pkg/artifact@v0.18.1 github.com/fluxcd/pkg/kustomize@v1.35.6 github.com/opencontainers/go-digest@v1.0.1-0.20220411205349-bde1400a84be
  go mod tidy -e
} >log 2>&1 || { cat log; exit 1; }
got=$(go run .)
echo "$got"
[ "$got" = "/clusters/p/*.yaml: the build succeeds with 0 objects
/clusters/p/**: the path is not in the artifact" ] || { echo "changed"; exit 1; }

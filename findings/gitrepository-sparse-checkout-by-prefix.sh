#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Packages: github.com/fluxcd/pkg/git v0.52.0 (the Git client of source-controller 1.9), github.com/go-git/go-git/v5 v5.19.1.
#
# Expected: with spec.sparseCheckout [apps], a GitRepository has the files of the directory apps, as `git sparse-checkout` does.
# Seen: each path is kept whose text begins with "apps": apps-old/b.yaml and the file apps.yaml come along. The same prefix rule
# keeps clusters/p2 where clusters/p is asked for, so a neighbour's files are in the artifact, and a .sourceignore in them counts.
# In the index of go-git, SkipUnless compares with strings.HasPrefix.
# What to do: write the directory with a slash at its end, "apps/".
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

git init -q -b main repository
(
  cd repository
  mkdir apps apps-old other
  for name in apps/a.yaml apps-old/b.yaml apps.yaml other/c.yaml; do echo "a: b" >"$name"; done
  git add .
  git -c user.name=x -c user.email=x@example.com commit -q -m files
)
mkdir program && cd program
cat >main.go <<'GO'
package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/fluxcd/pkg/git"
	"github.com/fluxcd/pkg/git/gogit"
	"github.com/fluxcd/pkg/git/repository"
)

func main() {
	client, err := gogit.NewClient(os.Args[2], &git.AuthOptions{Transport: git.HTTP})
	if err != nil {
		panic(err)
	}
	defer client.Close()
	if _, err := client.Clone(context.Background(), os.Args[1], repository.CloneConfig{
		CheckoutStrategy:          repository.CheckoutStrategy{Branch: "main"},
		SparseCheckoutDirectories: []string{os.Args[3]},
	}); err != nil {
		panic(err)
	}
	_ = filepath.WalkDir(os.Args[2], func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && entry.Name() == ".git" {
			return fs.SkipDir
		}
		if err == nil && !entry.IsDir() {
			within, _ := filepath.Rel(os.Args[2], name)
			fmt.Println(within)
		}
		return err
	})
}
GO
{
  go mod init example.com/finding
  go get github.com/fluxcd/pkg/git@v0.52.0 github.com/go-git/go-git/v5@v5.19.1
  go mod tidy
} >log 2>&1 || { cat log; exit 1; }

seen() { # DIRECTORY OF SPARSE CHECKOUT, FILES
  mkdir "$dir/out" && got=$(go run . "file://$dir/repository" "$dir/out" "$1" | sort | tr '\n' ' ')
  rm -rf "$dir/out"
  echo "sparseCheckout [$1]: $got"
  [ "$got" = "$2" ] || { echo "changed: it was $2"; exit 1; }
}
seen apps "apps-old/b.yaml apps.yaml apps/a.yaml "
seen apps/ "apps/a.yaml "

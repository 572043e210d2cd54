// SPDX-License-Identifier: Apache-2.0

package repository

import (
	"bytes"
	"os"
	"os/exec"
	"testing"
	"time"
)

// The soak begins when the branch has the value, whatever was written before, elsewhere, and beside it.
func TestSinceWhenAFileHasAValue(t *testing.T) {
	const script = `
git init -q -b main
at() { export GIT_COMMITTER_DATE="2026-01-0$1T00:00:00Z" GIT_AUTHOR_DATE=2020-01-01T00:00:00Z; }
put() { echo "$2" >"$1"; git add "$1"; git commit -q -m "$1 $2"; }
at 1; put stage a
at 2; git checkout -q -b branch; put stage b
at 3; git checkout -q main; put other x; git merge -q --no-ff -m merge branch
at 4; echo comment >>stage; git commit -q -a -m comment
at 5; mkdir dir; git mv other dir/moved; git commit -q -m move
at 6; put again a
at 7; put again b
at 8; put again a
printf '#!/bin/sh\ntouch ran\necho gpg: signed >&2\n' >gpg; chmod +x gpg
git config gpg.program "$PWD/gpg"; git config log.showSignature true
git reset -q $(git cat-file commit HEAD | awk '{ print } /^committer/ { print "gpgsig -----BEGIN PGP SIGNATURE-----\n \n -----END PGP SIGNATURE-----" }' |
  git hash-object -t commit -w --stdin)
`
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	t.Chdir(t.TempDir())
	for name, value := range map[string]string{
		"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.DevNull, "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b",
	} {
		t.Setenv(name, value)
	}
	if out, err := exec.CommandContext(t.Context(), "sh", "-eu", "-c", script).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, test := range []struct{ name, file, value, want string }{
		{"it came by a merge, and other lines have changed since then", "stage", "b", "2026-01-03"},
		{"it was written again", "again", "a", "2026-01-08"},
		{"its file was renamed", "dir/moved", "x", "2026-01-05"},
		{"it is another one", "stage", "a", ""},
		{"there is no such file", "nothing", "a", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			since, err := Git{}.Since(t.Context(), "HEAD", test.file, func(content []byte) bool { return bytes.HasPrefix(content, []byte(test.value+"\n")) })
			if got := since.At.Format(time.DateOnly); (err != nil) != (test.want == "") || err == nil && got != test.want {
				t.Errorf("Since() = %s, %v, want %s", got, err, test.want)
			}
		})
	}
	if at, err := (Git{}).Time(t.Context(), "HEAD"); err != nil || at.Format(time.DateOnly) != "2026-01-08" {
		t.Errorf("Time() = %s, %v", at, err)
	}
	if _, err := os.Stat("ran"); err == nil {
		t.Error("the program that checks signatures ran")
	}
}

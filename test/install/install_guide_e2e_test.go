// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package install_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/winnow-dev/winnow/test/stack"
)

// user follows the section "From a release" of the guide to install, and the guides to upgrade and to uninstall, in a
// directory of its own. What the pages have on GitHub is on loopback: their programs get other addresses, and a key in
// place of the identity of the workflow.
type user struct {
	t      *testing.T
	dir    string
	blocks []string // of the pages, in their order
	env    []string
}

var (
	shellBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```")
	identity   = regexp.MustCompile(`(?s)\s*(\\\n\s*)?--certificate-(oidc-issuer|identity)\s+("[^"]*"|[^\s)]+)`)
)

func newUser(t *testing.T, r *release) *user {
	t.Helper()
	_, section, _ := strings.Cut(guide(t, "install.md"), "\n## From a release\n")
	section, _, _ = strings.Cut(section, "\n## ")
	u := &user{t: t, dir: t.TempDir()}
	for _, block := range shellBlock.FindAllStringSubmatch(section+guide(t, "upgrade.md")+guide(t, "uninstall.md"), -1) {
		u.blocks = append(u.blocks, strings.ReplaceAll(block[1], "linux_amd64", runtime.GOOS+"_"+runtime.GOARCH))
	}
	cosign, err := stack.Cosign(t.Context(), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	helm, err := stack.Helm(t.Context(), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	command(t, u.dir, nil, cosign, "trusted-root", "create", "--out", "trusted-root.json")
	u.program("curl", `cp "`+r.dir+`/${2##*/}" .`)
	u.program("cosign", `case $1 in verify-blob) ;; *) set -- "$@" --allow-http-registry ;; esac
exec `+cosign+` "$@" --key "`+r.publicKey+`" --insecure-ignore-tlog --trusted-root "`+u.dir+`/trusted-root.json"`)
	u.program("helm", `case $1 in install|upgrade) set -- "$@" --plain-http ;; esac
exec `+helm+` "$@"`)
	u.program("sudo", `cp winnow "`+u.dir+`/bin/winnow"`)
	if _, err := exec.LookPath("kubectl"); err != nil {
		u.program("kubectl", "exit 0")
	}
	u.env = []string{
		"PATH=" + filepath.Join(u.dir, "bin") + ":" + os.Getenv("PATH"), "HOME=" + u.dir, "KUBECONFIG=" + r.s.Kubeconfig(),
	}
	for i, block := range u.blocks {
		u.blocks[i] = strings.ReplaceAll(identity.ReplaceAllString(block, ""), "ghcr.io/winnow-dev", r.s.RegistryHost()+"/winnow-dev")
	}
	return u
}

func guide(t *testing.T, name string) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root(t), "docs", "guides", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// program writes a program that the page calls.
func (u *user) program(name, script string) {
	u.t.Helper()
	file := filepath.Join(u.dir, "bin", name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		u.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		u.t.Fatal(err)
	}
}

// run runs the one block that has a command, and returns what it prints. oldnew has the placeholders of the block, each
// followed by what the user writes in its place.
func (u *user) run(t *testing.T, has string, oldnew ...string) string {
	t.Helper()
	var found []string
	for _, block := range u.blocks {
		if strings.Contains(block, has) {
			found = append(found, block)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d blocks of the page have %q", len(found), has)
	}
	return command(t, u.dir, u.env, "bash", "-euc", strings.NewReplacer(oldnew...).Replace(found[0]))
}

// checkArchive follows the page to the command line.
func (u *user) checkArchive(t *testing.T, r *release) {
	u.run(t, "cosign verify-blob")
	u.run(t, "verify-attestation")
	printed := u.run(t, "sudo install")
	want := fmt.Sprintf("winnow %s (%s, %s/%s, catalog.winnow.dev/v1alpha1, commit %s, %s)\n", releaseVersion, runtime.Version(),
		runtime.GOOS, runtime.GOARCH, r.commit, r.created.Format(time.RFC3339))
	if printed != want {
		t.Errorf("winnow version prints %q, want %q", printed, want)
	}
	archive := fmt.Sprintf("winnow_0.1.0_%s_%s.tar.gz", runtime.GOOS, runtime.GOARCH)
	packed := command(t, r.dir, nil, "tar", "-tzf", archive)
	for _, file := range []string{"LICENSE", "THIRD_PARTY.md", "man/man1/winnow-diff.1", "completions/winnow.bash"} {
		if !strings.Contains("\n"+packed, "\n"+file+"\n") {
			t.Errorf("%s has no %s:\n%s", archive, file, packed)
		}
	}
	// The checksum is what keeps the archive from being replaced.
	if err := os.WriteFile(filepath.Join(u.dir, archive), []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := failing(t, "sh", "-c", "cd '"+u.dir+"' && sha256sum --check --ignore-missing checksums.txt"); err == nil {
		t.Errorf("another archive passes: %s", out)
	}
}

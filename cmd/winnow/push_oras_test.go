// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/test/clitest"
)

// The commands of the guide unpack a catalog with named lists. One without them needs no second command.
func TestPublishingGuideUnpacksWithORAS(t *testing.T) {
	for _, program := range []string{"sh", "tar", "diff"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("the guide needs %s: %v", program, err)
		}
	}
	server := httptest.NewServer(clitest.EmptyRegistry())
	t.Cleanup(server.Close)
	t.Setenv("REGISTRY", strings.TrimPrefix(server.URL, "http://"))
	var commands string
	for _, block := range shBlock.FindAllStringSubmatch(clitest.ReadFile(t, "../../docs/guides/publishing.md"), -1) {
		if strings.HasPrefix(block[1], "oras pull ") {
			commands = block[1]
		}
	}
	pull, unpack, _ := strings.Cut(commands, "\n")
	if unpack == "" {
		t.Fatalf("the guide has not two commands: %q", commands)
	}

	example, err := filepath.Abs("../../examples/catalog")
	if err != nil {
		t.Fatal(err)
	}
	lists := newGuide(t)
	pushOutside(t, example)
	lists.run(t, pull+"\n"+unpack+"\ndiff -r --exclude README.md catalog "+example)

	plain := newGuide(t)
	plain.run(t, "mkdir plain && cp -r "+example+"/applications plain")
	pushOutside(t, filepath.Join(plain.dir, "plain"))
	plain.run(t, pull+"\ndiff -r pulled plain")
}

// pushOutside pushes a catalog to the address in the guides.
func pushOutside(t *testing.T, dir string) {
	t.Helper()
	address := "oci://" + os.Getenv("REGISTRY") + "/" + outside + ":v1.1.0"
	if got := clitest.Execute(t.Context(), "push", dir, address, "--plain-http", "--immutable-tags=false"); got.Code != root.ExitOK {
		t.Fatal(got.Stderr)
	}
}

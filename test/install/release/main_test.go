// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestErrorsNameTheVariableOfMake(t *testing.T) {
	for args, variable := range map[string]string{
		"-version main binaries":                                   "RELEASE_VERSION",
		"-version 0.1.0 binaries":                                  "RELEASE_VERSION",
		"-version v0.1.0/../x binaries":                            "RELEASE_VERSION",
		"-version v0.1 binaries":                                   "RELEASE_VERSION",
		"-version v0.1.0 oci":                                      "RELEASE_REGISTRY",
		"-version v0.1.0 -registry https://ghcr.io/winnow-dev oci": "RELEASE_REGISTRY",
		"-version v0.1.0 -registry ghcr.io/Winnow verify":          "RELEASE_REGISTRY",
		"-version v0.1.0 -key cosign.key binaries":                 "COSIGN_PUBLIC_KEY",
		"-version v0.1.0 -bin /tmp binaries":                       "BIN",
		"-version v0.1.0 publish":                                  "publish",
		"-version v0.1.0 -registry ghcr.io/winnow-dev dry-run oci": "dry-run",
	} {
		if _, _, err := parse(strings.Fields(args)); err == nil || !strings.Contains(err.Error(), variable) {
			t.Errorf("%s: %v", args, err)
		}
	}
	if o, _, err := parse(strings.Fields("-version v0.1.0-rc.1 -registry 127.0.0.1:5000/winnow-dev notes binaries oci files verify")); err != nil || o.number() != "0.1.0-rc.1" {
		t.Errorf("%+v, %v", o, err)
	}
}

// A chart of a release installs the image of the release.
func TestTheChartNamesTheImage(t *testing.T) {
	content, err := os.ReadFile("../../../charts/winnow/values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := nameImage(file, "v0.1.0", "ghcr.io/winnow-dev/winnow-controller@sha256:0123"); err != nil {
		t.Fatal(err)
	}
	changed, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if want := "image:\n  repository: ghcr.io/winnow-dev/winnow-controller\n  tag: v0.1.0\n  digest: sha256:0123\n"; !strings.Contains(string(changed), want) {
		t.Errorf("the values are\n%s", changed)
	}
	if err := nameImage(file, "v0.1.0", "ghcr.io/winnow-dev/winnow-controller@sha256:0123"); err == nil {
		t.Error("values without the image of the repository are not refused")
	}
}

// SPDX-License-Identifier: Apache-2.0

package archive_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"

	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/tree"
)

// Go's own compressor writes other bytes since Go 1.27. The digest changes with the compressor in go.mod alone: whoever upgrades that
// tells so in the changelog, because each served artifact and each push gets another digest at the same revision.
func TestTheBytesOfAnArchiveDependOnNoGo(t *testing.T) {
	const want = "sha256:e413d4b018ea0366bd4ee797e908469ed8087a08466d70713ba290624ab1b8c5"
	files := tree.New()
	for i := range 50 {
		if err := files.Add(fmt.Sprintf("applications/%02d/application.yaml", i), []byte(strings.Repeat(fmt.Sprintf("line %d\n", i), 100))); err != nil {
			t.Fatal(err)
		}
	}
	var packed bytes.Buffer
	if err := archive.Write(&packed, files); err != nil {
		t.Fatal(err)
	}
	if got := digest.FromBytes(packed.Bytes()).String(); got != want {
		t.Errorf("the digest is %s, want %s", got, want)
	}
}

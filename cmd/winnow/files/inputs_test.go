// SPDX-License-Identifier: Apache-2.0

package files

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

func TestInputIsBounded(t *testing.T) {
	for _, test := range []struct {
		size int
		ok   bool
	}{{MaxInputBytes, true}, {MaxInputBytes + 1, false}} {
		files, err := ReadInputs(t.Context(), "-", strings.NewReader(strings.Repeat("#", test.size)))
		if (err == nil) != test.ok || test.ok && len(files[0].Content) != test.size {
			t.Errorf("of %d bytes, %d files: %v", test.size, len(files), err)
		}
	}
}

func TestInputDirectoryIsBounded(t *testing.T) {
	files := t.TempDir()
	for i := range maxInputs + 1 {
		writeFile(t, filepath.Join(files, fmt.Sprintf("%d.yaml", i)), "")
	}
	if _, err := ReadInputs(t.Context(), files, nil); err == nil || !strings.Contains(err.Error(), "more than 1000 manifests") {
		t.Errorf("of too many files: %v", err)
	}
	bytes := t.TempDir()
	half := strings.Repeat("#", MaxInputBytes/2)
	for _, name := range []string{"a.yaml", "b.yaml"} {
		writeFile(t, filepath.Join(bytes, name), half)
	}
	if read, err := ReadInputs(t.Context(), bytes, nil); err != nil || len(read) != 2 {
		t.Errorf("of as many bytes as there may be: %d files, %v", len(read), err)
	}
	writeFile(t, filepath.Join(bytes, "c.yml"), "#")
	if _, err := ReadInputs(t.Context(), bytes, nil); err == nil || !strings.Contains(err.Error(), "more than 8388608 bytes") {
		t.Errorf("of too many bytes: %v", err)
	}
}

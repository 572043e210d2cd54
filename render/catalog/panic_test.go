// SPDX-License-Identifier: Apache-2.0

package catalog_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/parallel"
)

// panicking is a file system whose applications panic when they are read.
type panicking struct{ fstest.MapFS }

func (p panicking) Open(name string) (fs.File, error) {
	if strings.HasSuffix(name, "/application.yaml") {
		panic(name)
	}
	return p.MapFS.Open(name)
}

func TestAPanicOnAnyCoreIsAnError(t *testing.T) {
	files := panicking{fstest.MapFS{}}
	for _, name := range []string{"a", "b"} {
		files.MapFS["applications/"+name+"/application.yaml"] = &fstest.MapFile{Data: []byte("a: b\n")}
	}
	_, err := catalog.LoadAs(t.Context(), catalog.Applications{}, files, nil)
	panicked := new(parallel.PanicError)
	if !errors.As(err, &panicked) || panicked.Value != "applications/a/application.yaml" {
		t.Errorf("LoadAs() = %v", err)
	}
}

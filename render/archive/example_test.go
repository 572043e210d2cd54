// SPDX-License-Identifier: Apache-2.0

package archive_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing/fstest"

	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/tree"
)

func Example() {
	files := tree.New()
	if err := files.Add("applicationdefinitions/nginx.yaml", []byte("kind: ApplicationDefinition\n")); err != nil {
		fmt.Println(err)
	}
	var artifact bytes.Buffer
	if err := archive.Write(&artifact, files); err != nil {
		fmt.Println(err)
	}

	back, err := archive.Read(context.Background(), &artifact, archive.Limits{})
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(back.Paths(), back.Digest() == files.Digest())
	// Output: [applicationdefinitions/nginx.yaml] true
}

// Content that is at fault is told from a failure that may pass.
func ExampleError() {
	catalog := fstest.MapFS{"applications/nginx/logo.svg": {Data: make([]byte, 2000)}}
	_, err := archive.ReadFS(context.Background(), catalog, archive.Limits{File: 1000})
	var content *archive.Error
	if errors.As(err, &content) {
		fmt.Println(content.Path, content.Limit)
	}
	fmt.Println(err)
	// Output:
	// applications/nginx/logo.svg true
	// archive entry "applications/nginx/logo.svg": bytes of the file over the limit of 1000
}

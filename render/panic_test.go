// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/parallel"
	"github.com/winnow-dev/winnow/render/selection"
)

// panicking is a file system whose files panic when they are opened.
type panicking struct{ fstest.MapFS }

func (p panicking) Open(name string) (fs.File, error) {
	if strings.HasSuffix(name, ".yaml") {
		panic("a file that no parser has seen yet")
	}
	return p.MapFS.Open(name)
}

// A bug that one catalog triggers is a violation of that catalog: the process goes on for all others.
func TestAPanicIsAViolationOfTheCatalog(t *testing.T) {
	broken := &catalog.Application{Name: "a", APIVersion: "apps.kubermatic.k8c.io/v1", Kind: "ApplicationDefinition",
		Document: []byte("spec: {versions: [{version: 1.0.0}]}\n"), Merged: []catalog.Merged{{Versions: []string{"1.0.0"}}}}
	files := fstest.MapFS{"applications/a/application.yaml": &fstest.MapFile{Data: []byte("a: b\n")}}
	for _, test := range []struct {
		name, message string
		do            func(context.Context) error
	}{
		{"while files are read", "source ns/catalog: loading catalog: ", func(ctx context.Context) error {
			_, err := render.LoadFS(ctx, "ns/catalog", panicking{files}, render.CatalogLocation{})
			return err
		}},
		{"while applications are transformed, on all cores", "source ns/catalog: transforming application a: ", func(ctx context.Context) error {
			_, err := render.Refer(ctx, []selection.Decision{{Application: broken, Source: "ns/catalog", Selected: true, Versions: []string{"1.0.0"}}}, render.Options{})
			return err
		}},
		{"while applications are selected", "rendering: ", func(ctx context.Context) error {
			_, err := render.Render(ctx, []selection.Source{{Name: "ns/catalog", Catalog: &catalog.Catalog{Applications: []*catalog.Application{nil}}}}, render.Options{})
			return err
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := test.do(t.Context())
			invalid, panicked := new(render.Error), new(parallel.PanicError)
			if !errors.As(err, &invalid) || invalid.Code != v1alpha1.InvalidCatalogReason || !errors.As(err, &panicked) {
				t.Fatalf("the error is %v", err)
			}
			if !strings.HasPrefix(err.Error(), test.message+"a bug in Winnow: panic: ") {
				t.Errorf("the message is %q", err)
			}
		})
	}
}

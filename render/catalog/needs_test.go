// SPDX-License-Identifier: Apache-2.0

package catalog_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/winnow-dev/winnow/render/catalog"
)

// TestLoadNeedsNoOtherContent loads catalogs with and without the content that is not needed.
func TestLoadNeedsNoOtherContent(t *testing.T) {
	for _, test := range []struct {
		name    string
		files   files
		skipped int
	}{
		{"other files", with(files{"README.md": "a", "applications/README.md": "a", "applications/good/logo.png": "a", "a/b/c/application.yaml": "a"}), 4},
		{"metadata and lists", with(files{"applications/good/metadata.yaml": "tier: gold", "catalogs/l/metadata.yaml": "applications: [good]"}), 0},
		{"a directory without an application", with(files{"applications/bad/README.md": "a"}), 1},
		{"a list without its file", with(files{"catalogs/l/README.md": "a"}), 1},
		{"misspelt files", with(files{"applications/bad/application.yml": "a", "applications/good/metadata.yml": "a", "catalogs/l/metadata.yml": "a"}), 0},
		{"a nested application", with(files{"applications/bad/a/application.yaml": definition("a")}), 1},
		{"applications at the root", files{"good/application.yaml": definition("good"), "good/metadata.yaml": "tier: gold", "docs/README.md": "a", "x.yaml": "a"}, 2},
		{"misspelt files at the root", files{"good/application.yaml": definition("good"), "good/metadata.yml": "a"}, 0},
		{"hidden files", with(files{"applications/.git/application.yaml": "a", ".github/application.yaml": "a"}), 0},
		{"nothing", files{"README.md": "a"}, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			bare, skipped := files{}, 0
			for name, content := range test.files {
				if !(catalog.Applications{}).Needs(name) {
					content = ""
					skipped++
				}
				bare[name] = content
			}
			if skipped != test.skipped {
				t.Errorf("%d files are not needed, want %d", skipped, test.skipped)
			}
			got, gotErr := catalog.Load(context.Background(), bare.fs())
			want, wantErr := catalog.Load(context.Background(), test.files.fs())
			if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(gotErr, wantErr) {
				t.Errorf("Load() = %v, %v, want %v, %v", got, gotErr, want, wantErr)
			}
		})
	}
}

// SPDX-License-Identifier: Apache-2.0

package blobs_test

import (
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/verbs/imports/bundle"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/imports/bundle/blobs"
)

func source(name, version, defaultChannel string, channels ...string) blobs.Source {
	b := &bundle.Bundle{Package: "heron", Channels: channels, DefaultChannel: defaultChannel}
	b.CSV.Metadata.Name, b.CSV.Spec.Version, b.CSV.Spec.Description = name, version, "Of "+version
	return blobs.Source{Bundle: b, Image: "registry.example.com/heron:v" + version}
}

func TestDefaultChannelIsThatOfTheHighestVersion(t *testing.T) {
	for _, test := range []struct {
		name    string
		sources []blobs.Source
		want    string // the default channel and the description; empty for an error
	}{
		{"of the highest version that names one", []blobs.Source{
			source("a", "1.0.0", "old", "old"), source("c", "1.10.0", "", "beta"), source("b", "1.9.0", "stable", "stable"),
		}, "defaultChannel: stable\ndescription: Of 1.9.0\n"},
		{"of the only channel", []blobs.Source{source("a", "1.0.0", "", "alpha"), source("b", "1.1.0", "", "alpha")}, "defaultChannel: alpha\ndescription: Of 1.1.0\n"},
		{"of none", []blobs.Source{source("a", "1.0.0", "", "alpha", "beta")}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			files, err := blobs.Catalog(test.sources)
			if test.want == "" {
				if err == nil || !strings.Contains(err.Error(), `the package heron has the channels "alpha", "beta", and no bundle with the annotation `+bundle.DefaultChannelAnnotation) {
					t.Errorf("error %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if content, _ := files.Content("heron/catalog.yaml"); !strings.HasPrefix(string(content), "---\n"+test.want) {
				t.Errorf("the catalog is\n%s", content)
			}
		})
	}
}

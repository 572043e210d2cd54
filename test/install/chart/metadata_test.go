// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io/fs"
	"os"
	"path"
	"reflect"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/config/crd"
)

// definition is how Artifact Hub lists a CustomResourceDefinition.
type definition struct{ Kind, Version, Name string }

func TestTheMetadataOfTheChartIsTrue(t *testing.T) {
	var chart struct {
		Icon        string
		Annotations map[string]string
	}
	decode(t, os.DirFS("../../../charts/winnow"), "Chart.yaml", &chart)
	var listed, want []definition
	if err := yaml.Unmarshal([]byte(chart.Annotations["artifacthub.io/crds"]), &listed); err != nil {
		t.Fatal(err)
	}
	files, err := fs.Glob(crd.Files(), "bases/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		var served apiextensionsv1.CustomResourceDefinition
		decode(t, crd.Files(), file, &served)
		for _, version := range served.Spec.Versions {
			want = append(want, definition{served.Spec.Names.Kind, version.Name, served.Name})
		}
	}
	if !reflect.DeepEqual(listed, want) {
		t.Errorf("artifacthub.io/crds lists %v, and config has %v", listed, want)
	}
	for _, address := range append(strings.Fields(chart.Annotations["artifacthub.io/links"]), chart.Icon) {
		if _, file, found := strings.Cut(address, "/main/"); found {
			if _, err := os.Stat(path.Join("../../..", file)); err != nil {
				t.Error(err)
			}
		}
	}
}

func decode(t *testing.T, dir fs.FS, file string, into any) {
	t.Helper()
	content, err := fs.ReadFile(dir, file)
	if err == nil {
		err = yaml.Unmarshal(content, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

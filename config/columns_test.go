// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// definition returns the CustomResourceDefinition of CatalogSelections.
func definition(t *testing.T) apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	content, err := os.ReadFile("crd/bases/catalog.winnow.dev_catalogselections.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(content, &crd); err != nil {
		t.Fatal(err)
	}
	return crd
}

func TestThePrintColumnsAreThoseOfFlux(t *testing.T) {
	crd := definition(t)
	var columns []string
	for _, column := range crd.Spec.Versions[0].AdditionalPrinterColumns {
		columns = append(columns, strings.TrimSpace(column.Name+" "+map[int32]string{1: "-o wide"}[column.Priority]))
	}
	// What is short comes first, and what is cut off by a narrow terminal last.
	if want := []string{"Ready", "Applied", "Held", "Pushed", "Suspended -o wide", "Source", "Selected", "Age",
		"Revision -o wide", "Status"}; !slices.Equal(columns, want) {
		t.Errorf("columns are %v, want %v", columns, want)
	}
	if names := crd.Spec.Names; !slices.Equal(names.ShortNames, []string{"catsel"}) || !slices.Equal(names.Categories, []string{"all", "fluxcd"}) {
		t.Errorf("names are %+v", names)
	}
}

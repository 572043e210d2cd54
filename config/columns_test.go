package config_test

import (
	"os"
	"slices"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

func TestThePrintColumnsAreThoseOfFlux(t *testing.T) {
	content, err := os.ReadFile("crd/bases/catalog.winnow.dev_catalogselections.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(content, &crd); err != nil {
		t.Fatal(err)
	}
	var columns []string
	for _, column := range crd.Spec.Versions[0].AdditionalPrinterColumns {
		columns = append(columns, column.Name)
	}
	if want := []string{"Ready", "Applied", "Status", "Selected", "Revision", "Age"}; !slices.Equal(columns, want) {
		t.Errorf("columns are %v, want %v", columns, want)
	}
	if names := crd.Spec.Names; !slices.Equal(names.ShortNames, []string{"catsel"}) || !slices.Equal(names.Categories, []string{"all", "fluxcd"}) {
		t.Errorf("names are %+v", names)
	}
}

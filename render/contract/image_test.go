package contract_test

import (
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/render/contract"
)

func TestCatalogDirectory(t *testing.T) {
	for label, want := range map[string]string{"/configs": "configs", "configs/": "configs", "/opt/catalog": "opt/catalog"} {
		got, err := contract.CatalogDirectory(map[string]string{contract.ConfigsLabel: label})
		if got != want || err != nil {
			t.Errorf("CatalogDirectory(%q) = %q, %v", label, got, err)
		}
	}
	for _, label := range []string{"", "/", ".", "..", "/../etc", "/configs/../etc", "/a//b", "/" + strings.Repeat("a", 300)} {
		_, err := contract.CatalogDirectory(map[string]string{contract.ConfigsLabel: label})
		if err == nil || !strings.Contains(err.Error(), "want the path of a directory, such as /configs") {
			t.Errorf("CatalogDirectory(%q) = %v", label, err)
		}
	}
	if _, err := contract.CatalogDirectory(nil); err == nil || !strings.Contains(err.Error(), "without the label "+contract.ConfigsLabel) {
		t.Errorf("an image without a label: %v", err)
	}
}

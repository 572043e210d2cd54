package main

import (
	"os"
	"path/filepath"
	"testing"
)

// The definitions of KKP and Cozystack are imported byte for byte, and have no errors.
func TestTheVendorsDefinitionsAreImported(t *testing.T) {
	data := os.Getenv("WINNOW_TEST_DATA")
	if data == "" {
		data = "../../../shared/data"
	}
	if _, err := os.Stat(data); err != nil {
		t.Skipf("no definitions of vendors in %s; WINNOW_TEST_DATA names another directory", data)
	}
	for _, definitions := range []string{"kkp/system-applications", "cozystack/applicationdefinitions"} {
		t.Run(definitions, func(t *testing.T) {
			from, to := filepath.Join(data, definitions), t.TempDir()
			for _, args := range [][]string{{"import", from, "-o", to}, {"lint", to}} {
				if got := execute(t.Context(), args...); got.code != exitOK {
					t.Fatalf("%v: exit code %d\n%s%s", args, got.code, got.stdout, got.stderr)
				}
			}
			files, err := filepath.Glob(filepath.Join(from, "*.yaml"))
			if err != nil || len(files) == 0 {
				t.Fatalf("no files in %s: %v", from, err)
			}
			for _, file := range files {
				name := filepath.Base(file[:len(file)-len(".yaml")])
				if readFileString(t, file) != readFileString(t, filepath.Join(to, "applications", name, "application.yaml")) {
					t.Errorf("%s is changed", name)
				}
			}
		})
	}
}

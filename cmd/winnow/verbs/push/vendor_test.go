// SPDX-License-Identifier: Apache-2.0

package push_test

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/test/clitest"
)

// The catalogs of KKP and Cozystack can be pushed and have no errors, with and without their
// CustomResourceDefinitions.
func TestTheVendorsCatalogsPassLintAndPush(t *testing.T) {
	data := os.Getenv("WINNOW_TEST_DATA")
	if data == "" {
		data = "../../../../../shared/data"
	}
	if _, err := os.Stat(data); err != nil {
		t.Skipf("no definitions of vendors in %s; WINNOW_TEST_DATA names another directory", data)
	}
	server := httptest.NewServer(clitest.NewRegistry(t, nil))
	defer server.Close()
	for vendor, pattern := range map[string]string{
		"kkp": "kkp/system-applications/*.yaml", "cozystack": "cozystack/applicationdefinitions/*.yaml",
	} {
		t.Run(vendor, func(t *testing.T) {
			dir := vendorCatalog(t, filepath.Join(data, pattern))
			crds, err := filepath.Glob(filepath.Join(data, vendor, "crd/*_applicationdefinitions.yaml"))
			if err != nil || len(crds) != 1 {
				t.Fatalf("definitions are in %v: %v", crds, err)
			}
			where := "oci://" + strings.TrimPrefix(server.URL, "http://") + "/push:" + vendor
			for _, args := range [][]string{
				{"lint", dir}, {"lint", dir, "--crds", crds[0]},
				{"push", "--plain-http", dir, where}, {"push", "--plain-http", dir, where, "--crds", crds[0]},
			} {
				if got := clitest.Execute(t.Context(), args...); got.Code != root.ExitOK {
					t.Errorf("winnow %s: exit code %d\n%s%s", strings.Join(args, " "), got.Code, got.Stdout, got.Stderr)
				}
			}
		})
	}
}

// The definitions are those of Cozystack's proposal of backends. Released Cozystack refuses what it has, so that the
// CustomResourceDefinition decides.
func TestTheProposedBackendsPassLintAndPush(t *testing.T) {
	written := t.TempDir()
	for _, name := range []string{"postgres", "vpc", "zone"} {
		clitest.WriteFile(t, filepath.Join(written, name+".yaml"), clitest.ReadFile(t, "../../../../render/backend/testdata/proposed-"+name+"/definition.yaml"))
	}
	dir := vendorCatalog(t, filepath.Join(written, "*.yaml"))
	server := httptest.NewServer(clitest.NewRegistry(t, nil))
	defer server.Close()
	where := "oci://" + strings.TrimPrefix(server.URL, "http://") + "/push:proposed"
	const proposed = "../../../../test/stack/proposed/applicationdefinitions.apps.cozystack.io.yaml"
	for _, test := range []struct {
		args []string
		code int
	}{
		{[]string{"lint", dir}, root.ExitOK},
		{[]string{"push", "--plain-http", dir, where}, root.ExitOK},
		{[]string{"push", "--plain-http", dir, where, "--crds", proposed}, root.ExitOK},
		{[]string{"push", "--plain-http", dir, where, "--crds", "../../../../test/e2e/testdata/cozystack_crd.yaml"}, root.ExitFindings},
	} {
		if got := clitest.Execute(t.Context(), test.args...); got.Code != test.code {
			t.Errorf("winnow %s: exit code %d, want %d\n%s%s", strings.Join(test.args, " "), got.Code, test.code, got.Stdout, got.Stderr)
		}
	}
}

// vendorCatalog creates a catalog from definitions, each in a file.
func vendorCatalog(t *testing.T, pattern string) string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("no files match %s: %v", pattern, err)
	}
	dir := t.TempDir()
	for _, name := range names {
		application := filepath.Join(dir, "applications", strings.TrimSuffix(filepath.Base(name), ".yaml"))
		content, err := os.ReadFile(name)
		if err == nil {
			err = os.MkdirAll(application, 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(application, "application.yaml"), content, 0o600)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(application, "metadata.yaml"), []byte("tier: gold\n"), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

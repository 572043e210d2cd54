// SPDX-License-Identifier: Apache-2.0

package imports_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/test/clitest"
	"github.com/winnow-dev/winnow/test/clitest/livetest"
)

// winnow import makes a valid catalog without marks of the cluster out of what an API server returns of
// definitions that Flux applies.
func TestImportOfLiveDefinitions(t *testing.T) {
	c := livetest.StartWithWinnow(t)
	c.Define()
	list, to := filepath.Join(t.TempDir(), "list.json"), filepath.Join(t.TempDir(), "catalog")
	clitest.WriteFile(t, list, listDefinitions(t, c.Kubeconfig()))
	for _, args := range [][]string{{"import", list, "-o", to}, {"list", to}} {
		if got := clitest.Execute(t.Context(), args...); got.Code != root.ExitOK {
			t.Fatalf("%v: exit code %d\n%s%s", args, got.Code, got.Stdout, got.Stderr)
		}
	}
	files, err := filepath.Glob(filepath.Join(to, "applications", "*", "application.yaml"))
	if err != nil || len(files) != 5 {
		t.Fatalf("imported %v: %v", files, err)
	}
	for _, file := range files {
		text := clitest.ReadFile(t, file)
		for _, mark := range []string{"managedFields", "uid", "resourceVersion", "creationTimestamp", "fluxcd", "bypass"} {
			if strings.Contains(text, mark) {
				t.Errorf("%s has %s:\n%s", file, mark, text)
			}
		}
	}
}

// listDefinitions returns the list of the definitions in a cluster, as JSON.
func listDefinitions(t *testing.T, kubeconfig string) string {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	resource := schema.GroupVersionResource{Group: "apps.kubermatic.k8c.io", Version: "v1", Resource: "applicationdefinitions"}
	list, err := client.Resource(resource).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	content, err := list.MarshalJSON()
	if err != nil || !strings.Contains(string(content), "managedFields") {
		t.Fatalf("the list has no managed fields: %v", err)
	}
	return string(content)
}

// The definitions of KKP and Cozystack are imported byte for byte, and have no errors.
func TestTheVendorsDefinitionsAreImported(t *testing.T) {
	data := os.Getenv("WINNOW_TEST_DATA")
	if data == "" {
		data = "../../../../../shared/data"
	}
	if _, err := os.Stat(data); err != nil {
		t.Skipf("no definitions of vendors in %s; WINNOW_TEST_DATA names another directory", data)
	}
	for _, definitions := range []string{"kkp/system-applications", "cozystack/applicationdefinitions"} {
		t.Run(definitions, func(t *testing.T) {
			from, to := filepath.Join(data, definitions), t.TempDir()
			for _, args := range [][]string{{"import", from, "-o", to}, {"lint", to}} {
				if got := clitest.Execute(t.Context(), args...); got.Code != root.ExitOK {
					t.Fatalf("%v: exit code %d\n%s%s", args, got.Code, got.Stdout, got.Stderr)
				}
			}
			files, err := filepath.Glob(filepath.Join(from, "*.yaml"))
			if err != nil || len(files) == 0 {
				t.Fatalf("no files in %s: %v", from, err)
			}
			for _, file := range files {
				name := filepath.Base(file[:len(file)-len(".yaml")])
				if clitest.ReadFile(t, file) != clitest.ReadFile(t, filepath.Join(to, "applications", name, "application.yaml")) {
					t.Errorf("%s is changed", name)
				}
			}
		})
	}
}

// SPDX-License-Identifier: Apache-2.0

package catalog_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/render/catalog"
)

func TestLoadReadsTheExampleCatalog(t *testing.T) {
	root := "../../examples/catalog"
	loaded, err := catalog.Load(context.Background(), os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	tiers := map[string][]string{}
	var deprecated []string
	for _, application := range loaded.Applications {
		tiers[application.Metadata.Tier] = append(tiers[application.Metadata.Tier], application.Name)
		if application.Metadata.Deprecated != "" {
			deprecated = append(deprecated, application.Name)
		}
		content, err := os.ReadFile(filepath.Join(root, application.Path))
		if err != nil || !bytes.Equal(application.Document, content) {
			t.Errorf("the document of %s is not its file: %v", application.Name, err)
		}
		if len(application.Versions) < 2 {
			t.Errorf("%s has the versions %v, want several", application.Name, application.Versions)
		}
	}
	if want := map[string][]string{
		"gold":   {"argocd", "cert-manager", "kube-prometheus-stack"},
		"silver": {"external-dns", "falco", "loki", "velero"},
		"bronze": {"ingress-nginx", "metallb", "trivy-operator"},
	}; !reflect.DeepEqual(tiers, want) {
		t.Errorf("tiers = %v, want %v", tiers, want)
	}
	if want := []string{"ingress-nginx"}; !reflect.DeepEqual(deprecated, want) {
		t.Errorf("deprecated = %v, want %v", deprecated, want)
	}
	if want := map[string][]string{
		"default":  {"argocd", "cert-manager", "external-dns", "kube-prometheus-stack"},
		"security": {"cert-manager", "falco", "trivy-operator"},
	}; !reflect.DeepEqual(loaded.Lists, want) {
		t.Errorf("lists = %v, want %v", loaded.Lists, want)
	}
}

// testData returns the directory of real definitions that are not part of the repository. It
// skips the test where they are absent.
func testData(t *testing.T) string {
	t.Helper()
	directory := os.Getenv("WINNOW_TEST_DATA")
	if directory == "" {
		root, err := filepath.Abs(".")
		if err != nil {
			t.Fatal(err)
		}
		for !exists(filepath.Join(root, "go.mod")) && root != filepath.Dir(root) {
			root = filepath.Dir(root)
		}
		directory = filepath.Join(root, "../shared/data")
	}
	if !exists(directory) {
		t.Skipf("no real definitions in %s; WINNOW_TEST_DATA names another directory", directory)
	}
	return directory
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// loadReal loads every definition of a directory as an application of one catalog.
func loadReal(t *testing.T, pattern string) map[string]*catalog.Application {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(testData(t), pattern))
	if err != nil || len(names) == 0 {
		t.Fatalf("no files match %s: %v", pattern, err)
	}
	fsys := fstest.MapFS{}
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		directory := strings.TrimSuffix(filepath.Base(name), ".yaml")
		fsys["applications/"+directory+"/application.yaml"] = &fstest.MapFile{Data: content}
	}
	loaded, err := catalog.Load(context.Background(), fsys)
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]*catalog.Application{}
	for _, application := range loaded.Applications {
		byName[application.Name] = application
		if !bytes.Equal(application.Document, fsys[application.Path].Data) {
			t.Errorf("the document of %s is not its file", application.Name)
		}
	}
	if len(byName) != len(names) {
		t.Errorf("%d applications of %d files", len(byName), len(names))
	}
	return byName
}

func TestLoadReadsTheSystemApplicationsOfKKP(t *testing.T) {
	applications := loadReal(t, "kkp/system-applications/*.yaml")
	for name, want := range map[string]struct {
		first, last string
		count       int
	}{
		"cilium":             {"1.13.0", "1.19.4", 26},
		"cluster-autoscaler": {"1.32.0", "1.35.0", 2},
	} {
		application := applications[name]
		if application == nil {
			t.Errorf("%s is missing", name)
			continue
		}
		if application.APIVersion != "apps.kubermatic.k8c.io/v1" || application.Kind != "ApplicationDefinition" {
			t.Errorf("%s is %s %s", name, application.APIVersion, application.Kind)
		}
		versions := application.Versions
		if len(versions) != want.count || versions[0] != want.first || versions[want.count-1] != want.last {
			t.Errorf("%s has the versions %v", name, versions)
		}
	}
}

func TestLoadReadsTheDefinitionsOfCozystack(t *testing.T) {
	applications := loadReal(t, "cozystack/applicationdefinitions/*.yaml")
	for _, name := range []string{
		"bucket", "clickhouse", "etcd", "external-dns", "harbor", "info", "kubernetes-nodes", "postgres", "tenant",
		"virtualprivatecloud",
	} {
		application := applications[name]
		if application == nil {
			t.Errorf("%s is missing", name)
			continue
		}
		if application.APIVersion != "cozystack.io/v1alpha1" || application.Group != "cozystack.io" || len(application.Versions) != 0 {
			t.Errorf("%s is %s with the versions %v", name, application.APIVersion, application.Versions)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/test/clitest"
)

// The commands of the page name the objects of the example.
func TestPreviewGuideNamesTheExample(t *testing.T) {
	guide := clitest.ReadFile(t, "../../docs/render.md")
	var applications kustomizev1.Kustomization
	if err := yaml.UnmarshalStrict([]byte(clitest.ReadFile(t, "../../examples/gitops/applications.yaml")), &applications); err != nil {
		t.Fatal(err)
	}
	sources := regexp.MustCompile(`--local-sources (\S+)=(\S+)`).FindAllStringSubmatch(guide, -1)
	ref := applications.Spec.SourceRef
	ref.Namespace = applications.Namespace // as flux build does
	want := ref.String()
	named := false
	for _, source := range sources {
		if strings.HasPrefix(source[1], "GitRepository/") {
			continue // the repository's own
		}
		named = true
		if source[1] != want || !regexp.MustCompile(`winnow render [^#]*-o `+regexp.QuoteMeta(filepath.Clean(source[2]))+`\s`).MatchString(guide) {
			t.Errorf("the guide has %s, want the source %s and a directory that it renders", source[0], want)
		}
	}
	if !named {
		t.Error("the guide has no --local-sources for the artifact")
	}
}

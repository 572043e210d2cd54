// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/approval"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// withoutLine is a version whose text has no line of its own.
const withoutLine = "2 of May"

// seenLoss is a loss that a spoke sees: the line of exactly this loss, and the request that makes it.
type seenLoss struct {
	line    approval.Line
	request func() error
}

// TestLossesPolicyReadsLinesAsTheParser runs the cases of the parser in Go. Each line lets those losses of the table pass
// that the parser says it names, and no other.
func TestLossesPolicyReadsLinesAsTheParser(t *testing.T) {
	s := startSpoke(t)
	lines, exact := lineTable(t)
	losses := s.losses(exact)
	malformed := ""
	for _, text := range lines {
		line, err := approval.Parse(strings.TrimSpace(text)) // the blanks around a line of the ConfigMap do not count
		if err != nil {
			malformed += text + "\n"
			continue
		}
		t.Run(text, func(t *testing.T) { s.at(t).passed(text, losses, line.Names) })
	}
	t.Run("what is no line", func(t *testing.T) {
		s.at(t).passed(malformed, losses, func(approval.Line) bool { return false })
	})
}

// lineTable returns the lines of the cases, and the lines of the losses that they name or do not name.
func lineTable(t *testing.T) (lines []string, exact []approval.Line) {
	t.Helper()
	content, err := os.ReadFile("../render/approval/testdata/lines.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Line          string
		Names, Others []string
	}
	if err := yaml.Unmarshal(content, &cases); err != nil {
		t.Fatal(err)
	}
	all := map[approval.Line]bool{}
	for _, c := range cases {
		lines = append(lines, c.Line)
		for _, text := range slices.Concat(c.Names, c.Others) {
			line, err := approval.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			all[line] = true
		}
	}
	return lines, slices.SortedFunc(maps.Keys(all), func(a, b approval.Line) int { return strings.Compare(a.String(), b.String()) })
}

// losses creates the objects that the lines are about, and returns the losses that a spoke sees.
func (s *spoke) losses(exact []approval.Line) (losses []seenLoss) {
	s.Helper()
	versions := map[string][]string{}
	for _, line := range exact {
		if line.Application != "" {
			versions[line.Application] = append(versions[line.Application], "0.0.0", line.Version)
		}
	}
	for _, line := range exact {
		switch line.Word {
		case "", approval.Identity:
		default:
			continue
		}
		switch {
		case line.Instance != "" && line.Version == "":
			release := helmRelease(safeguard.Key{Namespace: "default", Name: line.Instance}, line.Instance)
			losses = append(losses, s.lossOfRelease(line, release))
		case line.Object.Kind == "HelmRelease" && line.Object.Namespace != "":
			losses = append(losses, s.lossOfRelease(line, helmRelease(line.Object, "")))
		case line.Application != "" && line.Word == "":
			losses = append(losses, s.lossOfDefinition(line, versions[line.Application]))
		}
	}
	if len(losses) < 15 {
		s.Errorf("the table has %d losses that a spoke sees", len(losses))
	}
	return losses
}

func helmRelease(key safeguard.Key, instance string) *unstructured.Unstructured {
	release := &unstructured.Unstructured{}
	release.SetAPIVersion("helm.toolkit.fluxcd.io/v2")
	release.SetKind("HelmRelease")
	release.SetNamespace(key.Namespace)
	release.SetName(key.Name)
	release.SetLabels(managed)
	if instance != "" {
		release.SetAnnotations(map[string]string{v1alpha1.InstanceAnnotation: instance})
	}
	return release
}

// lossOfRelease deletes a HelmRelease, or gives it another release.
func (s *spoke) lossOfRelease(line approval.Line, release *unstructured.Unstructured) seenLoss {
	s.Helper()
	s.namespace(release.GetNamespace())
	s.mustCreate(release.DeepCopy())
	if line.Word == "" {
		return seenLoss{line, func() error { return s.api.Delete(s.Context(), release.DeepCopy(), client.DryRunAll) }}
	}
	anotherRelease(release)
	return seenLoss{line, func() error { return s.dryRun(release) }}
}

// lossOfDefinition deletes a definition, or takes a version from it.
func (s *spoke) lossOfDefinition(line approval.Line, versions []string) seenLoss {
	s.Helper()
	definition := s.kkp.DeepCopy()
	definition.SetName(line.Application)
	definition.SetLabels(managed)
	slices.Sort(versions)
	versions = slices.Compact(versions)
	versions = slices.DeleteFunc(versions, func(v string) bool { return v == "" })
	texts := make([]string, len(versions))
	for i, version := range versions {
		texts[i] = strings.ReplaceAll(version, approval.Any, withoutLine)
	}
	setVersions(definition, texts...)
	s.mustCreate(definition.DeepCopy())
	if line.Version == "" {
		return seenLoss{line, func() error { return s.api.Delete(s.Context(), definition.DeepCopy(), client.DryRunAll) }}
	}
	setVersions(definition, slices.Delete(texts, slices.Index(versions, line.Version), slices.Index(versions, line.Version)+1)...)
	return seenLoss{line, func() error { return s.dryRun(definition) }}
}

func (s *spoke) dryRun(object *unstructured.Unstructured) error {
	return s.api.Apply(s.Context(), client.ApplyConfigurationFromUnstructured(object.DeepCopy()), client.DryRunAll,
		client.FieldOwner(fluxManager), client.ForceOwnership)
}

func (s *spoke) namespace(name string) {
	s.Helper()
	namespace := parse(s.T, fmt.Appendf(nil, "apiVersion: v1\nkind: Namespace\nmetadata: {name: %s}\n", name))
	if err := s.api.Create(s.Context(), namespace); err != nil && !apierrors.IsAlreadyExists(err) {
		s.Fatal(err)
	}
}

// passed compares the losses that the lines let pass with those that are named.
func (s *spoke) passed(lines string, losses []seenLoss, named func(approval.Line) bool) {
	s.Helper()
	s.approve(lines)
	for _, loss := range losses {
		switch err := loss.request(); {
		case err != nil && !apierrors.IsForbidden(err):
			s.Errorf("%s: %v", loss.line, err)
		case (err == nil) != named(loss.line):
			s.Errorf("%s: named is %t, and the API server said: %v", loss.line, named(loss.line), err)
		}
	}
}

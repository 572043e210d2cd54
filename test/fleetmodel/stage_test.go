// SPDX-License-Identifier: Apache-2.0

package fleetmodel

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// Stages of the fleet datacenter, in the order of promotions. The spokes of the fleet edge follow a tag, and are no stage.
const (
	staging    = "stages/staging"
	canary     = "stages/canary"
	production = "stages/production"
	edge       = "edge"
)

// fluxFiles are the OCIRepository and the Kustomization of a stage.
const fluxFiles = `apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata:
  name: applications
  namespace: flux-system
spec:
  interval: 5m
  url: oci://%s/rendered/%s
  insecure: true
  ref:
    %s
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: applications
  namespace: flux-system
spec:
  interval: 1h
  sourceRef:
    kind: OCIRepository
    name: applications
  prune: true
`

// hubCatalog is the source of the selections.
const hubCatalog = `apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata:
  name: catalog
  namespace: fleet
spec:
  interval: 10m
  url: oci://%s/` + catalogRepository + `
  insecure: true
  ref:
    tag: stable
`

// selectionFile returns the selection of a fleet.
func selectionFile(host, fleet string, exclude, approve []string, policy string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "apiVersion: catalog.winnow.dev/v1alpha1\nkind: CatalogSelection\nmetadata:\n  name: %s\n  namespace: fleet\nspec:\n"+
		"  sources:\n  - name: catalog\n  deletionPolicy: %s\n  push:\n    url: oci://%s/rendered/%s\n    tags: [latest]\n", fleet, policy, host, fleet)
	if len(exclude) > 0 {
		fmt.Fprintf(&text, "  exclude: [%s]\n", strings.Join(exclude, ", "))
	}
	if len(approve) > 0 {
		fmt.Fprintf(&text, "  safeguards:\n    approve: ['%s']\n", strings.Join(approve, "', '"))
	}
	return text.String()
}

// stageFile is the file with the OCIRepository of a stage.
func stageFile(target string) string { return target + "/applications.yaml" }

// pinFile is the patch that pins one cluster of production to a digest of its own.
func pinFile(target string) string { return target + "/digest.yaml" }

const pinned = "resources:\n- ../../" + production + "\npatches:\n- path: digest.yaml\n"
const unpinned = "resources:\n- ../../" + production + "\n"

// pin returns the content of such a patch.
func pin(digest string, lines []string) string {
	text := "apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata:\n  name: applications\n  namespace: flux-system\n"
	return annotate(text, lines) + "spec:\n  ref:\n    digest: " + digest + "\n"
}

// reference is what Git has of the OCIRepository of a target.
type reference struct {
	digest, tag string
	// tagged reports that one of its files has a tag, which a digest overrides.
	tagged, suspended bool
	// lines are those of the annotation of the last of its files that has one, and all those of each file.
	lines, all []string
}

var (
	digestLine   = regexp.MustCompile(`(?m)^ +digest: (\S+)$`)
	tagLine      = regexp.MustCompile(`(?m)^ +tag: (\S+)$`)
	approveLines = regexp.MustCompile(`(?m)^    catalog\.winnow\.dev/approve:.*\n(?:      .*\n)*`)
	suspendLine  = regexp.MustCompile(`(?m)^  suspend: true\n`)
	metadataName = "  name: applications\n  namespace: flux-system\n"
)

func firstOf(pattern *regexp.Regexp, text string) string {
	found := pattern.FindStringSubmatch(text)
	if found == nil {
		return ""
	}
	return found[1]
}

// sources returns the OCIRepositories of the targets, as they are in the working directory.
func (m *model) sources() map[string]reference {
	all := map[string]reference{}
	for _, target := range m.targets {
		files := []string{stageFile(target)}
		if strings.HasPrefix(target, "pinned/") {
			files = []string{stageFile(production), pinFile(target)}
		}
		var s reference
		for _, file := range files {
			text := m.read(file)
			if digest := firstOf(digestLine, text); digest != "" {
				s.digest = digest
			}
			s.suspended = s.suspended || suspendLine.MatchString(text)
			if s.tag = firstOf(tagLine, text); s.tag != "" {
				s.tagged = true
			}
			if s.digest != "" {
				s.tag = ""
			}
			if lines := m.linesOf(text); len(lines) > 0 {
				s.lines, s.all = lines, append(s.all, lines...)
			}
		}
		all[target] = s
	}
	return all
}

// added returns the lines that a change adds: none of the files had them before.
func added(before, after reference) []string {
	return slices.DeleteFunc(slices.Clone(after.lines), func(line string) bool { return slices.Contains(before.all, line) })
}

// linesOf returns the lines of the annotation in a file.
func (m *model) linesOf(text string) []string {
	found := map[string]string{}
	m.must(yaml.Unmarshal([]byte(approveLines.FindString(text)), &found))
	return strings.Fields(found[v1alpha1.ApproveAnnotation])
}

// annotate returns a file with lines in its annotation, which replace former ones.
func annotate(text string, lines []string) string {
	text = strings.Replace(approveLines.ReplaceAllString(text, ""), "  annotations:\n", "", 1)
	if len(lines) == 0 {
		return text
	}
	return strings.Replace(text, metadataName, fmt.Sprintf("%s  annotations:\n    catalog.winnow.dev/approve: %q\n", metadataName, strings.Join(lines, "\n")), 1)
}

// repoint returns a file with another digest.
func repoint(text, digest string) string {
	return digestLine.ReplaceAllString(text, "    digest: "+digest)
}

// movedBetween returns the targets whose digest or tag differs, in their order.
func (m *model) movedBetween(before, after map[string]reference) []string {
	return slices.DeleteFunc(slices.Clone(m.targets), func(target string) bool {
		a, b := before[target], after[target]
		return a.digest == b.digest && a.tag == b.tag
	})
}

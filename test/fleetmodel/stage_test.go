// SPDX-License-Identifier: Apache-2.0

package fleetmodel

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
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
func pin(digest, annotation string) string {
	text := "apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata:\n  name: applications\n  namespace: flux-system\n"
	if annotation != "" {
		text += "  annotations:\n    catalog.winnow.dev/approve: " + annotation + "\n"
	}
	return text + "spec:\n  ref:\n    digest: " + digest + "\n"
}

// reference is what Git has of the OCIRepository of a target.
type reference struct {
	digest, tag string
	// tagged reports that one of its files has a tag, which a digest overrides.
	tagged, suspended bool
	// annotation is the one that approves, of the last of its files that has one, and annotations are those of all.
	annotation  string
	annotations map[string]string
}

var (
	digestLine   = regexp.MustCompile(`(?m)^ +digest: (\S+)$`)
	tagLine      = regexp.MustCompile(`(?m)^ +tag: (\S+)$`)
	approveLine  = regexp.MustCompile(`(?m)^ +catalog\.winnow\.dev/approve: (\S+)$`)
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
		s := reference{annotations: map[string]string{}}
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
			if annotation := firstOf(approveLine, text); annotation != "" {
				s.annotation, s.annotations[file] = annotation, annotation
			}
		}
		all[target] = s
	}
	return all
}

// offers reports whether a change adds an approval of the digest that it promotes: the OCIRepository has another annotation
// than before, and none of its files had that one.
func offers(before, after reference) bool {
	digest, _, _ := strings.Cut(after.annotation, "#")
	if digest != after.digest || after.annotation == before.annotation {
		return false
	}
	for file, is := range after.annotations {
		if is == after.annotation && before.annotations[file] == is {
			return false
		}
	}
	return true
}

// annotate returns a file with an annotation, which replaces a former one.
func annotate(text, annotation string) string {
	if approveLine.MatchString(text) {
		return approveLine.ReplaceAllString(text, "    catalog.winnow.dev/approve: "+annotation)
	}
	return strings.Replace(text, metadataName, metadataName+"  annotations:\n    catalog.winnow.dev/approve: "+annotation+"\n", 1)
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

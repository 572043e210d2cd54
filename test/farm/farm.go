// SPDX-License-Identifier: Apache-2.0

package farm

import (
	"fmt"
	"maps"
	"strings"
)

// Farm is a repository of clusters. The same fields give the same files.
type Farm struct {
	// Clusters is their number.
	Clusters int
	// Registry is the address of the registry with the catalogs, and PlainHTTP reports that it has no TLS.
	Registry  string
	PlainHTTP bool
}

// Rings of a farm. Most clusters are in the last one.
const (
	Canary = "canary"
	Early  = "early"
	Edge   = "edge"
	Stable = "stable"
)

// Rings returns the rings, in the order of their clusters.
func Rings() []string { return []string{Canary, Early, Edge, Stable} }

// RingOf returns the ring of the cluster with a number, which begins at 0.
func (f Farm) RingOf(n int) string {
	for _, ring := range []struct {
		name string
		has  int
	}{{Canary, max(1, f.Clusters/20)}, {Early, max(2, f.Clusters/10)}, {Edge, max(1, f.Clusters/20)}} {
		if n < ring.has {
			return ring.name
		}
		n -= ring.has
	}
	return Stable
}

// ClustersOf returns the directories of the clusters of a ring.
func (f Farm) ClustersOf(ring string) []string {
	var all []string
	for n := range f.Clusters {
		if f.RingOf(n) == ring {
			all = append(all, directory(n))
		}
	}
	return all
}

func directory(n int) string { return fmt.Sprintf("clusters/c%03d", n+1) }

// Files returns the files of the first commit, by their paths.
func (f Farm) Files() map[string]string {
	insecure := ""
	if f.PlainHTTP {
		insecure = "  insecure: true\n"
	}
	files := map[string]string{
		"base/kustomization.yaml": kustomization + "resources:\n- source.yaml\n- selection.yaml\n- applications.yaml\n",
		"base/source.yaml":        fmt.Sprintf(ociRepository, f.Registry, insecure),
		"base/selection.yaml":     catalogSelection,
		"base/applications.yaml":  consumer,
	}
	for _, ring := range Rings() {
		files["rings/"+ring+"/kustomization.yaml"] = kustomization + "resources:\n- ../../base\npatches:\n- path: source.yaml\n- path: selection.yaml\n"
		files["rings/"+ring+"/source.yaml"] = tagged(First)
		files["rings/"+ring+"/selection.yaml"] = patched("exclude: [" + nameOf(applications-1) + "]")
	}
	for n := range f.Clusters {
		dir := directory(n)
		name := strings.TrimPrefix(dir, "clusters/")
		files[dir+"/flux-system/gotk-sync.yaml"] = strings.ReplaceAll(bootstrapped, "DIR", dir)
		files[dir+"/catalog.yaml"] = strings.ReplaceAll(applied, "RING", f.RingOf(n))
		files[dir+"/settings.yaml"] = strings.ReplaceAll(settings, "NAME", name)
	}
	return files
}

// Effects returns the files that differ in a second commit with three effects: the canaries get a catalog that takes
// something away, the early ones a catalog that adds something, and the edit of the ring at the edge loosens.
func (f Farm) Effects() map[string]string {
	return map[string]string{
		"rings/" + Canary + "/source.yaml": tagged(Third), "rings/" + Early + "/source.yaml": tagged(Second),
		"rings/" + Edge + "/selection.yaml": patched("exclude: [" + nameOf(applications-1) + "]\n  deletionPolicy: Delete"),
	}
}

// Everywhere returns the files that differ where all clusters get the catalog with a tag.
func (f Farm) Everywhere(tag string) map[string]string {
	files := map[string]string{}
	for _, ring := range Rings() {
		files["rings/"+ring+"/source.yaml"] = tagged(tag)
	}
	return files
}

// With returns the files, and others in their place.
func With(files, others map[string]string) map[string]string {
	all := maps.Clone(files)
	maps.Copy(all, others)
	return all
}

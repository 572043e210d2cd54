// SPDX-License-Identifier: Apache-2.0

package documents

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// Origin is the place of an object in the repository.
type Origin struct {
	// Cluster is the directory of the cluster, and Kustomization the name of the one that applies the object, empty for the directory
	// itself. Both are empty for an object that is read from its file without a build. File has the object, before patches.
	Cluster, Kustomization, File string
	// Inputs are the files that the object is built of, sorted, and Dir is the directory that is built.
	Inputs []string
	Dir    string
	// Appliers are the names of the Kustomizations that lead to the object, from the directory on.
	Appliers []string
	// Alone reports that no Kustomization of the repository applies the directory, so that the cluster is unknown.
	Alone bool
	// Unknown are sentences on unknown parts of the object, and Hidden is a digest of these parts.
	Unknown []string
	Hidden  string
	// Lost names the Kustomization that cannot be evaluated and has the object, or its source. The object is from the other
	// commit, or its former state is not known: its fields cannot be compared. It is empty for all others.
	Lost string
	// Unapplied reports that the file is beside others that are built, and is not one of theirs.
	Unapplied bool
	// Untouched reports that Flux does not update the object in the cluster, and Suspended that a Kustomization that leads to it is
	// suspended.
	Untouched, Suspended bool
}

// KnownCluster returns the directory of the cluster that has the object, empty if the repository does not show it.
func (o Origin) KnownCluster() string {
	if o.Alone {
		return ""
	}
	return o.Cluster
}

// ByKubeConfig separates the directory of a cluster, which is a hub, from the kubeConfig of another cluster.
const ByKubeConfig = " by kubeConfig "

// Directory returns the directory of the cluster, or of its hub.
func (o Origin) Directory() string {
	directory, _, _ := strings.Cut(o.Cluster, ByKubeConfig)
	return directory
}

// IsAt reports whether both origins are the same file, applied by the same Kustomizations.
func (o Origin) IsAt(other Origin) bool {
	return o.Cluster == other.Cluster && o.File == other.File && slices.Equal(o.Appliers, other.Appliers)
}

// Place returns the file of an object, or one in the directory that is built alone.
func (o Origin) Place() string {
	if o.Alone {
		return path.Join(o.Cluster, path.Base(o.File))
	}
	return o.File
}

// Files returns the files that the object is built of, with its own.
func (o Origin) Files() []string {
	if slices.Contains(o.Inputs, o.File) {
		return o.Inputs
	}
	return append(slices.Clone(o.Inputs), o.File)
}

// In returns what has the object: the directory of its cluster, or without a build its file.
func (o Origin) In() string { return cmp.Or(o.Cluster, o.File) }

// AppliersOf returns the Kustomizations that lead to an object for a message.
func AppliersOf(o Origin) string {
	return cmp.Or(strings.Join(slices.DeleteFunc(slices.Clone(o.Appliers), func(name string) bool { return name == "" }), " by "), "the directory")
}

// CommonDirectories counts the directories that two files have in common.
func CommonDirectories(a, b string) int {
	mine, theirs := strings.Split(path.Dir(a), "/"), strings.Split(path.Dir(b), "/")
	n := 0
	for n < min(len(mine), len(theirs)) && mine[n] == theirs[n] {
		n++
	}
	return n
}

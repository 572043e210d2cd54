// Package crds checks objects against CustomResourceDefinitions as an API server checks them
// when they are applied and do not exist yet. It knows files and objects, neither a cluster nor
// what a catalog or a selection is.
package crds

// Package pull is winnow pull: it fetches a catalog from a registry into a directory.
package pull

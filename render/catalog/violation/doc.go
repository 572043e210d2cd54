// Package violation collects what is wrong with a catalog: Findings those of one file, a Report those of all of them,
// and an InvalidError is the error that has them.
//
// It must not know how a catalog is read.
package violation

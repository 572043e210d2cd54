// Package safeguard compares what is about to be published with what was published, or lives in
// a cluster, and says what would be lost: applications, versions of them, and how far versions
// jump.
//
// It is pure, so that the command line names in a pull request what the controller will hold. It
// must not know how either side came about, nor what happens to a change that is held.
package safeguard

// Package importing converts definitions of applications, as people keep them in files and kubectl prints them, and the
// indexes of Helm repositories into the files of a catalog, and lists what it cannot take. It reads what it is given,
// writes nothing, and must not know clusters, the network or flags.
package importing

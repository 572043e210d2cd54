// SPDX-License-Identifier: Apache-2.0

// Package importing converts definitions of applications, from files and from the output of kubectl, and the indexes of
// Helm repositories into the files of a catalog. It lists what it cannot take. It reads its arguments, writes nothing,
// and must not know clusters, the network or flags.
package importing

// Package repository reads commits of the Git repository of the working directory, as Flux makes artifacts of them, and
// knows by which addresses sources name that repository. It must not know objects, nor use the network.
package repository

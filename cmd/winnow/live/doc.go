// Package live reads the definitions in a cluster and adds to a comparison their losses, and those that Flux does not
// update. It never writes, and must not know the origin of the compared states.
package live

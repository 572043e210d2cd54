// Package live looks at the definitions in a cluster and adds to a comparison what they lose, and what Flux leaves
// alone. It reads and never writes, and must not know where the compared states come from.
package live

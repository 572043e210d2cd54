// Package layout has tests of how the code is divided: which files need each other, and how long they are. It must not
// know what the code does.
package layout

// Package guard decides what of a new render is held, why, and what has to be approved for it:
// the controller asks it before it publishes, the command line in a pull request.
//
// It is pure. It must not know how the last publication was recorded, how sources are fetched or
// clusters read, nor what happens to a change that is held.
package guard

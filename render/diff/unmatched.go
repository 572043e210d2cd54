package diff

import "github.com/winnow-dev/winnow/render"

// unmatched returns notes on what the newer selection mentions and no catalog has. What the older one
// could not match either is nothing new, but not right either.
func unmatched(to *Side) []string { return render.Sentences(to.Result.Unmatched) }

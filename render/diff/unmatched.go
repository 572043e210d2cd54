package diff

import "github.com/winnow-dev/winnow/render"

// unmatched returns notes on the names in the newer selection that no catalog has, including those that the
// older selection had already.
func unmatched(to *Side) []string { return render.Sentences(to.Result.Unmatched) }

package diff

import (
	"slices"

	"github.com/winnow-dev/winnow/render"
)

// unmatched returns notes on the names in the newer selection that no catalog has, including those that the
// older selection had already. Instances have a place of their own.
func unmatched(to *Side) []string {
	return render.Sentences(slices.DeleteFunc(slices.Clone(to.Result.Unmatched), func(u render.Unmatched) bool { return u.Reason != "" }))
}

package functions

import "fmt"

// resolver resolves the configs that a walk has found.
type resolver struct {
	*walk

	Options
	sources map[string]*Source
	pins    pins
	result  Result
	needs   needs
	// inline maps kustomizations to the new texts of their elements.
	inline map[string]map[element]string
	// given has the names that configs without one got.
	given map[string]bool
}

func (r *resolver) change(file string, line int, format string, args ...any) {
	r.result.Changes = append(r.result.Changes, Problem{r.show(file), line, fmt.Sprintf(format, args...)})
}

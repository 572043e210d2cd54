package selection

// publisher returns that of a function of kustomize; empty for another application.
func (r *record) publisher() string {
	if of := r.application.Function(); of != nil {
		return of.Publisher
	}
	return ""
}

// runtimes returns how the versions of a function of kustomize run: container, exec and starlark, each once.
func (r *record) runtimes() []string {
	all := []string{}
	if of := r.application.Function(); of != nil {
		all = append(all, of.Runtimes()...)
	}
	return all
}

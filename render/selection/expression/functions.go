// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"errors"

	"github.com/winnow-dev/winnow/render/krmfunctions"
)

// function returns the function of kustomize that the application is; an empty one for another application. It returns an
// error where it is not known, as in a record without it: an expression may have another result than it had.
func (r *record) function() (*krmfunctions.Function, error) {
	if !r.application.IsKnown() {
		return nil, errors.New("the fields of app are not known for a function")
	}
	if of := r.application.Function(); of != nil {
		return of, nil
	}
	return &krmfunctions.Function{}, nil
}

// publisher returns that of a function; empty for another application.
func (r *record) publisher() (any, error) {
	of, err := r.function()
	if err != nil {
		return nil, err
	}
	return of.Publisher, nil
}

// runtimes returns how the versions of a function run: container, exec and starlark, each once.
func (r *record) runtimes() (any, error) {
	of, err := r.function()
	if err != nil {
		return nil, err
	}
	return append([]string{}, of.Runtimes()...), nil
}

// SPDX-License-Identifier: Apache-2.0

package charts

import (
	"errors"
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/cmd/winnow/charts/fetching"
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/backend/kkp"
	"github.com/winnow-dev/winnow/render/definition"
	"github.com/winnow-dev/winnow/render/value"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// reference returns the chart of Helm of a version; otherwise the reason why there is none.
func reference(v definition.Version[value.Value]) (r fetching.Reference, missing string) {
	r = fetching.Reference(v.Chart())
	switch {
	case v.Git().IsSet():
		return fetching.Reference{}, "it is in a Git repository, which is not read"
	case !v.Helm().IsSet():
		return r, "the version names no chart"
	case r.URL == "" || r.Name == "" || r.Version == "":
		return r, "the version names no chart with a URL, a name and a version"
	}
	return r, ""
}

// parsed is a definition with its default values, as YAML.
type parsed struct {
	versions []definition.Version[value.Value]
	defaults []byte
	// invalid is the reason why the default values cannot be read.
	invalid error
}

// parse reads the document of an application; ok reports whether it is a definition with versions.
func parse(document []byte) (p parsed, ok bool) {
	content, err := yamlnode.Mapping(document)
	if err != nil {
		return p, false
	}
	spec := value.Of(content).Get("spec")
	if p.versions = definition.Versions(spec); len(p.versions) == 0 {
		return p, false
	}
	values, err := kkp.DefaultValues(spec.Mapping())
	if problem, ok := errors.AsType[*backend.Error](err); ok {
		err = fmt.Errorf("its default values cannot be read: %s: %s", problem.Path, problem.Message)
	}
	if err == nil {
		p.defaults, err = encode(values)
	}
	p.invalid = err
	return p, true
}

// encode returns values as YAML; nil for none.
func encode(values map[string]any) ([]byte, error) {
	if len(values) == 0 {
		return nil, nil
	}
	return yaml.Marshal(backend.MergeValues(values, nil))
}

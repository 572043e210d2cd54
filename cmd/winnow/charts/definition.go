// SPDX-License-Identifier: Apache-2.0

package charts

import (
	"encoding/json"
	"errors"
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/cmd/winnow/charts/fetching"
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/backend/kkp"
	"github.com/winnow-dev/winnow/render/dialect"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// definition is what is read of a definition of KKP.
type definition struct {
	Spec struct {
		Versions []version `json:"versions"`
	} `json:"spec"`
}

type version struct {
	Version  string `json:"version"`
	Template struct {
		Source struct {
			Helm *struct {
				URL          string `json:"url"`
				ChartName    string `json:"chartName"`
				ChartVersion string `json:"chartVersion"`
			} `json:"helm"`
			Git *struct{} `json:"git"`
		} `json:"source"`
	} `json:"template"`
}

// reference returns the chart of Helm of a version; otherwise the reason why there is none.
func (v version) reference() (r fetching.Reference, missing string) {
	source := v.Template.Source
	switch {
	case source.Git != nil:
		return r, "it is in a Git repository, which is not read"
	case source.Helm == nil:
		return r, "the version names no chart"
	}
	r = fetching.Reference{URL: source.Helm.URL, Name: source.Helm.ChartName, Version: source.Helm.ChartVersion}
	if r.URL == "" || r.Name == "" || r.Version == "" {
		return r, "the version names no chart with a URL, a name and a version"
	}
	return r, ""
}

// parsed is a definition with its default values, as YAML.
type parsed struct {
	definition
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
	built, err := dialect.Built(document)
	if err != nil || json.Unmarshal(built, &p.definition) != nil || len(p.Spec.Versions) == 0 {
		return p, false
	}
	spec, _ := content["spec"].(map[string]any)
	values, err := kkp.DefaultValues(spec)
	if problem, ok := errors.AsType[*backend.Error](err); ok {
		err = fmt.Errorf("its default values cannot be read: %s: %s", problem.Path, problem.Message)
	}
	if err != nil {
		p.invalid = err
		return p, true
	}
	p.defaults, p.invalid = encode(values)
	return p, true
}

// encode returns values as YAML; nil for none.
func encode(values map[string]any) ([]byte, error) {
	if len(values) == 0 {
		return nil, nil
	}
	return yaml.Marshal(backend.MergeValues(values, nil))
}

// SPDX-License-Identifier: Apache-2.0

package building

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/envsubst"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kustomize "sigs.k8s.io/kustomize/api/resource"

	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/inputs"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/manifest"
)

// maxSubstituted bounds the size of an object after its variables were replaced.
const maxSubstituted = 64 << 20

// variableName matches the names of variables that Flux accepts.
var variableName = regexp.MustCompile(`^[_a-zA-Z][_a-zA-Z0-9]*$`)

// expression matches a use of a variable.
var expression = regexp.MustCompile(`\$\{[^}]*`)

// Variables are the variables of postBuild.
type Variables struct {
	known map[string]string
	// unknown maps a variable to the object with its value, and missing are objects that are not in the
	// repository, so that their variables are unknown, too.
	unknown map[string]hiddenObject
	missing []hiddenObject
	// postBuild reports that the Kustomization has the field, and always replaces expressions even if there are no variables.
	postBuild, always bool
}

// hiddenObject is a ConfigMap or a Secret whose values cannot be read.
type hiddenObject struct {
	name, why string
	// state is a digest of the object.
	state string
}

// placeholder matches the text for an unknown value.
var placeholder = regexp.MustCompile(`unknown-[0-9a-f]{12}`)

// placeholder returns a text for an unknown value. It depends on the state of the object with the value.
func (s hiddenObject) placeholder(variable string) string {
	return "unknown-" + inputs.Digest(s.name, s.state, variable)[:12]
}

// PathPattern returns an expression that matches every path that a path with unknown values may be, or nil if all
// values are known.
func PathPattern(name string) *regexp.Regexp {
	if !placeholder.MatchString(name) {
		return nil
	}
	return regexp.MustCompile("^" + placeholder.ReplaceAllString(regexp.QuoteMeta(name), "[^/]+") + "$")
}

// Digest returns a digest of all known values, and of the objects with the unknown ones.
func (v *Variables) Digest() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(v.known)) {
		parts = append(parts, name, v.known[name])
	}
	for _, name := range slices.Sorted(maps.Keys(v.unknown)) {
		parts = append(parts, name, v.unknown[name].name, v.unknown[name].state)
	}
	for _, s := range v.missing {
		parts = append(parts, s.name)
	}
	return inputs.Digest(parts...)
}

// NewVariables returns the variables of a Kustomization of a cluster. find returns an object, or nil.
func NewVariables(k *manifest.Kustomization, cluster string, find func(manifest.Ref) *manifest.Object) *Variables {
	v := &Variables{known: map[string]string{}, unknown: map[string]hiddenObject{}}
	for i, m := range k.Variables(cluster) {
		v.add(m, k.References()[i].Optional, find(m))
	}
	if k.Spec.PostBuild != nil {
		v.postBuild, v.always = true, k.Spec.PostBuild.SubstituteStrategy == kustomizev1.SubstituteStrategyAlways
		for name, value := range k.Spec.PostBuild.Substitute {
			v.set(name, value)
		}
	}
	return v
}

func (v *Variables) set(name, value string) {
	v.known[name] = strings.ReplaceAll(value, "\n", "")
	delete(v.unknown, name)
}

// add adds the keys of a ConfigMap or a Secret. Later ones override earlier ones.
func (v *Variables) add(m manifest.Ref, optional bool, object *manifest.Object) {
	hidden := hiddenObject{name: m.Kind + " " + manifest.NameOf(m.Name), why: "whose value is not in this repository"}
	if object == nil {
		if !optional {
			hidden.why = "which is not in this repository"
			v.missing = append(v.missing, hidden)
		}
		return
	}
	readable := m.Kind == "ConfigMap" && !object.IsEncrypted() && len(object.Unknown) == 0 && object.Lost == ""
	if object.Lost != "" {
		hidden.why = "and " + object.Lost
	}
	for _, field := range []string{"data", "stringData"} {
		values, _, _ := unstructured.NestedMap(object.Object, field)
		for key, value := range values {
			if text, ok := value.(string); ok && readable {
				v.set(key, text)
				continue
			}
			if hidden.state == "" {
				hidden.state = inputs.Digest(documents.JSONOf(object.Object))
			}
			delete(v.known, key)
			v.unknown[key] = hidden
		}
	}
}

func isDisabled(r *kustomize.Resource) bool {
	const key, disabled = manifest.KustomizationGroup + "/substitute", "disabled"
	return r.GetLabels()[key] == disabled || r.GetAnnotations()[key] == disabled
}

// mayReplace reports whether substitute may change an object, in YAML or JSON, or fail.
func (v *Variables) mayReplace(content []byte) bool {
	if len(v.known)+len(v.unknown)+len(v.missing) == 0 && !v.always {
		return false
	}
	for name := range v.known {
		if !variableName.MatchString(name) {
			return true
		}
	}
	return bytes.Contains(content, []byte("${")) || bytes.Contains(content, []byte("$$"))
}

// substitute replaces variables as Flux does. It returns sentences on unknown values, and a digest of them.
func (v *Variables) substitute(content []byte) (replaced []byte, unknown []string, hidden string, err error) {
	for name := range v.known {
		if !variableName.MatchString(name) {
			return nil, nil, "", fmt.Errorf("%q cannot be the name of a variable", name)
		}
	}
	if err := v.checkSize(content); err != nil {
		return nil, nil, "", err
	}
	used, states, unset := map[string]bool{}, []string{}, ""
	lookUp := func(name string) (string, bool) {
		value, sentence, found := v.value(name)
		if sentence != "" {
			used[sentence] = true
			// An expression may use a part of the placeholder that does not depend on the value.
			states = append(states, value)
		}
		if !found {
			unset = name
		}
		return value, found
	}
	text, err := envsubst.Eval(string(content), lookUp)
	if err != nil { // of a variable without a value, or of the syntax
		sentence := fmt.Sprintf("${%s} has no value: Flux 2.9 and later apply nothing of its Kustomization, and others take it for empty", unset)
		if text, err = envsubst.Eval(string(content), func(name string) (string, bool) { value, _ := lookUp(name); return value, true }); err != nil {
			return nil, nil, "", err
		}
		used[sentence] = true
	}
	if len(states) > 0 {
		hidden = inputs.Digest(states...)
	}
	return []byte(text), slices.Sorted(maps.Keys(used)), hidden, nil
}

// value returns the value of a variable, or a placeholder and the reason why the value is unknown. It reports false for a variable
// without a value.
func (v *Variables) value(name string) (value, unknown string, found bool) {
	if value, found := v.known[name]; found {
		return value, "", true
	}
	hidden, found := v.unknown[name]
	if !found && len(v.missing) > 0 {
		hidden, found = v.missing[0], true
	}
	if !found {
		return "", "", false
	}
	return hidden.placeholder(name), fmt.Sprintf("${%s} is of the %s, %s", name, hidden.name, hidden.why), true
}

// checkSize returns an error if substitution could exceed maxSubstituted. It assumes the longest value for
// each use, times the length of the expression if that replaces parts of the value.
func (v *Variables) checkSize(content []byte) error {
	longest := 64
	for _, value := range v.known {
		longest = max(longest, len(value))
	}
	size := len(content)
	for _, use := range expression.FindAll(content, -1) {
		factor := 1
		if bytes.ContainsAny(use, "/=-") {
			factor = len(use)
		}
		if size += longest * factor; size > maxSubstituted {
			return errors.New("with its variables it is too large")
		}
	}
	return nil
}

package gitops

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
	flux "github.com/fluxcd/pkg/kustomize"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/kustomize/api/resource"
)

// maxSubstituted bounds an object after its variables were replaced.
const maxSubstituted = 64 << 20

// variableName is what Flux takes for one.
var variableName = regexp.MustCompile(`^[_a-zA-Z][_a-zA-Z0-9]*$`)

// expression is a use of a variable.
var expression = regexp.MustCompile(`\$\{[^}]*`)

// variables are those of postBuild.
type variables struct {
	known map[string]string
	// unknown maps a variable to what has its value, and absent are objects of which not even the
	// variables are known.
	unknown map[string]secret
	absent  []secret
	// always replaces variables even if there are none.
	always bool
}

// secret is an object with values that cannot be read here.
type secret struct {
	name, why string
	// state differs where the object does.
	state string
}

// placeholder stands for a value. It differs where the object that has the value does.
func (s secret) placeholder(variable string) string {
	return "unknown-" + digest(s.name, s.state, variable)[:12]
}

// digest is that of all values, and of the objects that have those that are unknown.
func (v *variables) digest() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(v.known)) {
		parts = append(parts, name, v.known[name])
	}
	for _, name := range slices.Sorted(maps.Keys(v.unknown)) {
		parts = append(parts, name, v.unknown[name].name, v.unknown[name].state)
	}
	for _, s := range v.absent {
		parts = append(parts, s.name)
	}
	return digest(parts...)
}

// newVariables reads the variables of a Kustomization. find returns an object of the cluster.
func newVariables(k *kustomization, find func(group, kind string, name types.NamespacedName) *Object) *variables {
	v := &variables{known: map[string]string{}, unknown: map[string]secret{}}
	for _, ref := range k.references() {
		name := types.NamespacedName{Namespace: k.object.GetNamespace(), Name: ref.Name}
		v.from(ref, nameOf(name), find("", ref.Kind, name))
	}
	if k.spec.PostBuild != nil {
		v.always = k.spec.PostBuild.SubstituteStrategy == kustomizev1.SubstituteStrategyAlways
		for name, value := range k.spec.PostBuild.Substitute {
			v.set(name, value)
		}
	}
	return v
}

func (v *variables) set(name, value string) {
	v.known[name] = strings.ReplaceAll(value, "\n", "")
	delete(v.unknown, name)
}

// from takes in the keys of a ConfigMap or a Secret; later ones win.
func (v *variables) from(ref kustomizev1.SubstituteReference, name string, object *Object) {
	hidden := secret{name: ref.Kind + " " + name, why: "the value of which is not in this repository"}
	if object == nil {
		if !ref.Optional {
			hidden.why = "which is not in this repository"
			v.absent = append(v.absent, hidden)
		}
		return
	}
	hidden.state = object.digest()
	readable := ref.Kind == "ConfigMap" && !object.isEncrypted() && len(object.Unknown) == 0
	for _, field := range []string{"data", "stringData"} {
		values, _, _ := unstructured.NestedMap(object.Object, field)
		for key, value := range values {
			if text, ok := value.(string); ok && readable {
				v.set(key, text)
				continue
			}
			delete(v.known, key)
			v.unknown[key] = hidden
		}
	}
}

func isDisabled(r *resource.Resource) bool {
	const key = kustomizationGroup + "/substitute"
	return r.GetLabels()[key] == flux.DisabledValue || r.GetAnnotations()[key] == flux.DisabledValue
}

// substitute replaces variables as Flux does, and says which values are unknown.
func (v *variables) substitute(content []byte) (replaced []byte, unknown []string, hidden string, err error) {
	if len(v.known)+len(v.unknown)+len(v.absent) == 0 && !v.always {
		return content, nil, "", nil
	}
	for name := range v.known {
		if !variableName.MatchString(name) {
			return nil, nil, "", fmt.Errorf("%q cannot be the name of a variable", name)
		}
	}
	if !bytes.Contains(content, []byte("${")) {
		return content, nil, "", nil
	}
	if err := v.bound(content); err != nil {
		return nil, nil, "", err
	}
	used, states := map[string]bool{}, []string{}
	text, err := envsubst.Eval(string(content), func(name string) (string, bool) {
		value, sentence := v.value(name)
		if sentence != "" {
			used[sentence] = true
			// An expression may use a part of the placeholder, which is the same whatever the value.
			states = append(states, value)
		}
		return value, true
	})
	if err != nil {
		return nil, nil, "", err
	}
	if len(states) > 0 {
		hidden = digest(states...)
	}
	return []byte(text), slices.Sorted(maps.Keys(used)), hidden, nil
}

// value returns the value of a variable, or a placeholder and why it is unknown. What nothing has is
// empty.
func (v *variables) value(name string) (value, unknown string) {
	if value, found := v.known[name]; found {
		return value, ""
	}
	hidden, found := v.unknown[name]
	if !found && len(v.absent) > 0 {
		hidden, found = v.absent[0], true
	}
	if !found {
		return "", ""
	}
	return hidden.placeholder(name), fmt.Sprintf("${%s} is of the %s, %s", name, hidden.name, hidden.why)
}

// bound refuses what becomes too large: each use is as long as the longest value, and one that replaces
// parts of it longer by what it says.
func (v *variables) bound(content []byte) error {
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

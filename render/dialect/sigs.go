// SPDX-License-Identifier: Apache-2.0

package dialect

import (
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/render/parallel"
)

// Unmarshal decodes the first document of a text as Helm, kubectl and kustomize for its own files do, using sigs.k8s.io/yaml:
// yes is a boolean, and the last of the same keys counts.
func Unmarshal(text []byte, into any) (err error) {
	defer parallel.RecoverAs(gaveUp, &err)
	return yaml.Unmarshal(text, into)
}

// UnmarshalStrict is Unmarshal that refuses unknown fields and keys that are there twice.
func UnmarshalStrict(text []byte, into any) (err error) {
	defer parallel.RecoverAs(gaveUp, &err)
	return yaml.UnmarshalStrict(text, into)
}

// JSON converts the first document of a text as Unmarshal reads it.
func JSON(text []byte) (converted []byte, err error) {
	defer parallel.RecoverAs(gaveUp, &err)
	return yaml.YAMLToJSON(text)
}

// Object returns the object in the first document of a text as Unmarshal reads it, with whole numbers as int64, as the API server
// has them. It is nil for a document without content. With strict it refuses keys that are there twice.
func Object(text []byte, strict bool) (object map[string]any, err error) {
	defer parallel.RecoverAs(gaveUp, &err)
	convert := yaml.YAMLToJSON
	if strict {
		convert = yaml.YAMLToJSONStrict
	}
	converted, err := convert(text)
	if err == nil {
		err = utiljson.Unmarshal(converted, &object)
	}
	return object, err
}

// gaveUp reports a panic of a parser, which panics on a state that it holds to be impossible.
const gaveUp = "the parser gave up"

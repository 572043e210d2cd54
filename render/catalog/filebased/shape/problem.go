// SPDX-License-Identifier: Apache-2.0

package shape

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// FieldPath of a value in a document: keys, and indexes of lists.
type FieldPath []any

func (p FieldPath) String() string {
	var text strings.Builder
	for _, step := range p {
		switch step := step.(type) {
		case int:
			fmt.Fprintf(&text, "[%d]", step)
		default:
			if text.Len() > 0 {
				text.WriteByte('.')
			}
			fmt.Fprint(&text, step)
		}
	}
	return text.String()
}

// Problem is what is wrong with a value of a document.
type Problem struct {
	At      FieldPath
	Message string
	// Line in the document, from 1, where it is known without the place.
	Line int
}

// TypeProblem states which field has the wrong type. The error of base64 counts before the error of encoding/json: since
// Go 1.27, that tells of a string that should be a list.
func TypeProblem(err error) Problem {
	if corrupt, ok := errors.AsType[base64.CorruptInputError](err); ok {
		return Problem{Message: corrupt.Error()}
	}
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return Problem{Message: err.Error()}
	}
	var at FieldPath
	for key := range strings.SplitSeq(wrong.Field, ".") {
		if _, err := strconv.Atoi(key); key != "" && err != nil { // Go 1.27 has the indices of lists as well
			at = append(at, key)
		}
	}
	want := map[reflect.Kind]string{
		reflect.String: "a string", reflect.Bool: "a boolean", reflect.Slice: "a list",
		reflect.Int32: "a number", reflect.Int64: "a number", reflect.Float64: "a number",
	}[wrong.Type.Kind()]
	got := map[string]string{"array": "a list", "object": "a mapping", "bool": "a boolean", "string": "a string"}[wrong.Value]
	return Problem{At: at, Message: fmt.Sprintf("must be %s, but is %s", cmp.Or(want, "a mapping"), cmp.Or(got, "a number"))}
}

// SPDX-License-Identifier: Apache-2.0

package schema

import (
	_ "embed"
	"fmt"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/dialect"
	"github.com/winnow-dev/winnow/render/lint/field"
)

// platform is what is known of the definitions of an API group.
type platform struct {
	group, version string
	// required is the rule on required fields.
	required string
	root     *apiextensionsv1.JSONSchemaProps
	// more checks what a schema does not say; nil for nothing.
	more func(root field.Field, report reportRule)
}

// check checks a definition of the platform.
func (p platform) check(root field.Field, report reportRule) {
	schemaCheck{required: p.required, report: report}.value(root, p.root)
	if p.more != nil {
		p.more(root, report)
	}
}

//go:embed kkp.yaml
var kkpFields []byte

//go:embed cozystack.yaml
var cozystackFields []byte

// platforms are those whose definitions are known. The second is Cozystack.
var platforms = sync.OnceValue(func() []platform {
	return []platform{
		{group: kinds.KKPGroup, version: "v1", required: kkpRequiredRule, root: parse(kkpFields)},
		{group: kinds.CozystackGroup, version: "v1alpha1", required: cozystackRequiredRule, root: parse(cozystackFields), more: checkBackend},
	}
})

func cozystack() platform { return platforms()[1] }

// parse reads a schema that is a part of the program.
func parse(text []byte) *apiextensionsv1.JSONSchemaProps {
	schema := &apiextensionsv1.JSONSchemaProps{}
	if err := dialect.UnmarshalStrict(text, schema); err != nil {
		panic(fmt.Sprintf("parsing a schema of lint: %v", err))
	}
	return schema
}

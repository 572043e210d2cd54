// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/version"

	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/krmfunctions"
)

// FunctionKind is the kind of applications that are functions of kustomize.
const FunctionKind = "KRMFunction"

// FunctionsFile is the file of an artifact that has the functions, as one catalog of KEP-2906.
const FunctionsFile = "functions/catalog.yaml"

// functionContent is a function of kustomize.
type functionContent struct{ *krmfunctions.Function }

// Function returns the function of kustomize that the application is; nil for others.
func (a *Application) Function() *krmfunctions.Function { return FunctionOf(a.Content) }

// FunctionOf returns the function of kustomize that a content is; nil for others.
func FunctionOf(content Content) *krmfunctions.Function {
	one, _ := content.(functionContent)
	return one.Function
}

// newFunction returns a function as an application, with the name <kind>.<group>, in lower case as Kubernetes has names.
func newFunction(of *krmfunctions.Function) *Application {
	a := &Application{
		Name: strings.ToLower(of.Name()), Path: of.Path, Above: max(of.Line-1, 0), Kind: FunctionKind, Group: of.Group,
		Content: functionContent{of},
	}
	a.Versions = each.Map(of.Versions, func(one *krmfunctions.Version) string { return one.Name })
	// v2 before v1, and both before v2beta1: as kubectl orders versions of an API.
	slices.SortStableFunc(a.Versions, func(x, y string) int { return -version.CompareKubeAwareVersionStrings(x, y) })
	return a
}

// Channels implements Content.
func (f functionContent) Channels() []Channel {
	return []Channel{{Versions: newFunction(f.Function).Versions}}
}

// Keep implements Content.
func (f functionContent) Keep(keep Keep) (Content, []string, error) {
	if keep.Version == nil {
		return f, nil, nil
	}
	kept, err := f.Function.Keep(func(version string) bool { return keep.Version("", version) })
	if err != nil {
		return nil, nil, err
	}
	return functionContent{kept}, nil, nil
}

// Files implements Content.
func (f functionContent) Files() []File {
	return []File{{Path: FunctionsFile, Head: []byte(krmfunctions.Head), Data: f.Entry}}
}

// Size implements Content.
func (f functionContent) Size() int64 { return int64(len(f.Entry)) }

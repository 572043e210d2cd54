// SPDX-License-Identifier: Apache-2.0

package tree_test

import (
	"fmt"
	"io/fs"

	"github.com/winnow-dev/winnow/render/tree"
)

func ExampleTree() {
	t := tree.New()
	for _, path := range []string{"b/two", "a"} {
		if err := t.Add(path, []byte("content of "+path+"\n")); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(t.Add("../climbing", nil))
	fmt.Println(t.Add("b", nil))

	fmt.Println(t.Paths(), t.Len(), t.Size())
	fmt.Println(t.Digest())
	// Output:
	// file "../climbing": path has a ".." element
	// file "b": file is a directory as well
	// [a b/two] 2 30
	// sha256:a78cf8473a777207ceace4ab3a52cd583a37c9c78190f76010db23731fd4fc67
}

func ExampleTree_FS() {
	t := tree.New()
	if err := t.Add("applications/nginx/application.yaml", []byte("kind: ApplicationDefinition\n")); err != nil {
		fmt.Println(err)
	}
	matches, err := fs.Glob(t.FS(), "applications/*/application.yaml")
	fmt.Println(matches, err)
	// Output: [applications/nginx/application.yaml] <nil>
}

func ExampleKustomization() {
	content, err := tree.Kustomization{
		Resources:   []string{"applicationdefinitions/nginx.yaml"},
		Labels:      map[string]string{"app.kubernetes.io/managed-by": "winnow"},
		Annotations: map[string]string{"kustomize.toolkit.fluxcd.io/ssa": "Merge"},
	}.Marshal()
	fmt.Printf("%s%v\n", content, err)
	// Output:
	// apiVersion: kustomize.config.k8s.io/v1beta1
	// kind: Kustomization
	// resources:
	// - applicationdefinitions/nginx.yaml
	// labels:
	// - pairs:
	//     app.kubernetes.io/managed-by: winnow
	// transformers:
	// - |
	//   apiVersion: builtin
	//   kind: AnnotationsTransformer
	//   metadata:
	//     name: annotations
	//   annotations:
	//     kustomize.toolkit.fluxcd.io/ssa: Merge
	//   fieldSpecs:
	//   - path: metadata/annotations
	//     create: true
	// <nil>
}

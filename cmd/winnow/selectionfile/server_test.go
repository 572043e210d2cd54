// SPDX-License-Identifier: Apache-2.0

package selectionfile

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/stack"
)

// The test sends the documents to a real API server, by creation as kubectl does and by server-side apply
// as Flux does. This package must refuse the same documents, for the same fields, and accept the others.
func TestTheAPIServerAndTheCommandLineAgree(t *testing.T) {
	client := startServer(t)
	for _, c := range accepted() {
		t.Run("accepted/"+c.name, func(t *testing.T) { acceptedByBoth(t, client, c) })
	}
	for _, c := range rejected() {
		t.Run("rejected/"+c.name, func(t *testing.T) { rejectedByBoth(t, client, c) })
	}
	for _, c := range fields() {
		t.Run(c.name, func(t *testing.T) {
			acceptedByBoth(t, client, serverCase{document: document(c.valid)})
			for _, spec := range c.invalid {
				rejectedByBoth(t, client, serverCase{document: document(spec)})
			}
		})
	}
	if n := len(accepted()) + len(rejected()); n < 61 {
		t.Errorf("only %d documents are compared", n)
	}
}

func acceptedByBoth(t *testing.T, client *rest.RESTClient, c serverCase) {
	violations := violationsOf(t, c.document)
	for verb, err := range ask(t, client, c.document) {
		if err != nil {
			t.Errorf("the API server refuses to %s: %v", verb, err)
		}
	}
	if got := len(violations) > 0; got != c.beyond {
		t.Errorf("the command line finds %v", violations)
	}
}

func rejectedByBoth(t *testing.T, client *rest.RESTClient, c serverCase) {
	violations := violationsOf(t, c.document)
	if len(violations) == 0 {
		t.Error("the command line accepts it")
	}
	errs := ask(t, client, c.document)
	answer := errs["create"]
	if (answer == nil) != c.created {
		t.Errorf("the API server answers to create: %v", answer)
	}
	if answer == nil {
		answer = errs["apply"]
	}
	if errs["apply"] == nil {
		t.Fatal("the API server would apply it")
	}
	if want := fieldsOf(t, answer); want != nil && !slices.Equal(admitted(t, c.document, answer), want) {
		t.Errorf("the API server names the fields %q, the command line\n%v", want, violations)
	}
}

func startServer(t *testing.T) *rest.RESTClient {
	t.Helper()
	s, err := stack.Start(t.Context(), stack.Options{Progress: t.Output(), CRDs: []string{"config/crd/bases"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	config := rest.CopyConfig(s.RESTConfig())
	config.GroupVersion, config.APIPath = &schema.GroupVersion{Group: v1alpha1.GroupVersion.Group, Version: v1alpha1.GroupVersion.Version}, "/apis"
	config.NegotiatedSerializer, config.QPS = scheme.Codecs.WithoutConversion(), -1
	client, err := rest.RESTClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// ask sends the document unchanged, as a dry run.
func ask(t *testing.T, client *rest.RESTClient, document string) map[string]error {
	t.Helper()
	send := func(request *rest.Request, content string) error {
		return request.Namespace("default").Resource("catalogselections").Param("dryRun", "All").Param("fieldValidation", "Strict").
			SetHeader("Content-Type", content).Body([]byte(document)).Do(t.Context()).Error()
	}
	return map[string]error{
		"create": send(client.Post(), "application/yaml"),
		"apply": send(client.Verb(http.MethodPatch).Name(nameIn(document)).Param("fieldManager", "test").Param("force", "true"),
			"application/apply-patch+yaml"),
	}
}

func nameIn(document string) string {
	if names := Names(context.Background(), []byte(document)); len(names) > 0 {
		return names[0]
	}
	return "nameless"
}

func violationsOf(t *testing.T, document string) []Violation {
	t.Helper()
	_, err := Parse(t.Context(), "file", []byte(document))
	var invalid *InvalidError
	if err != nil && !errors.As(err, &invalid) {
		t.Fatal(err)
	}
	if invalid == nil {
		return nil
	}
	for _, v := range invalid.Violations {
		if v.Line == 0 || v.Message == "" {
			t.Errorf("a violation without a line or a message: %+v", v)
		}
	}
	return invalid.Violations
}

var unknownField = regexp.MustCompile(`unknown field "([^"]+)"`)

// fieldsOf returns the fields that the API server names, sorted; nil for one that names none.
func fieldsOf(t *testing.T, err error) []string {
	t.Helper()
	var status *apierrors.StatusError
	if !errors.As(err, &status) {
		t.Fatalf("no answer of the API server: %v", err)
	}
	var named []string
	for _, match := range unknownField.FindAllStringSubmatch(status.ErrStatus.Message, -1) {
		named = append(named, match[1])
	}
	if status.ErrStatus.Details != nil {
		for _, cause := range status.ErrStatus.Details.Causes {
			named = append(named, strings.TrimPrefix(cause.Field, "<nil>"))
		}
	}
	slices.Sort(named)
	return slices.Compact(slices.DeleteFunc(named, func(field string) bool { return field == "" }))
}

// admitted returns the fields that our schema refuses and that the API server names in the same answer:
// it reports unknown fields before it validates anything else.
func admitted(t *testing.T, document string, answer error) []string {
	t.Helper()
	object, err := read([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, v := range admit(t.Context(), &unstructured.Unstructured{Object: object}) {
		if strings.HasPrefix(v.Message, "unknown field") || !apierrors.IsBadRequest(answer) {
			named = append(named, v.Field)
		}
	}
	slices.Sort(named)
	return slices.Compact(slices.DeleteFunc(named, func(field string) bool { return field == "" }))
}

// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/winnow-dev/winnow/test/stack"
)

func TestWhatIsExplainedWorks(t *testing.T) {
	s, err := stack.Start(t.Context(), everything("", t.Output()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	if err := furnish(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	var explained bytes.Buffer
	if err := explain(s, &explained); err != nil {
		t.Fatal(err)
	}
	try := filepath.Join(s.Dir(), tryFile)
	for _, want := range []string{s.Kubeconfig(), try, s.RegistryHost()} {
		if !strings.Contains(explained.String(), want) {
			t.Errorf("the explanation lacks %s:\n%s", want, &explained)
		}
	}
	if err := s.ApplyPath(t.Context(), try); err != nil {
		t.Fatal(err)
	}
	applied := &unstructured.UnstructuredList{}
	applied.SetAPIVersion("apps.kubermatic.k8c.io/v1")
	applied.SetKind("ApplicationDefinitionList")
	err = wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, 2*time.Minute, true,
		func(ctx context.Context) (bool, error) {
			err := s.Client().List(ctx, applied)
			return len(applied.Items) > 0, err
		})
	if err != nil {
		log, logErr := s.Log(stack.WinnowController)
		t.Errorf("no ApplicationDefinition is applied: %v\n%s%v", err, log, logErr)
	}
}

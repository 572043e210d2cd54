// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/winnow-dev/winnow/test/stack"
)

func TestTheSystemSurvivesItsController(t *testing.T) {
	s, err := stack.Start(t.Context(), everything("", t.Output()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	ctx, stop := context.WithCancel(t.Context())
	lines, out := io.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- serve(ctx, s, out)
		_ = out.Close()
	}()
	said := bufio.NewScanner(lines)
	for said.Scan() && !strings.HasPrefix(said.Text(), "Ctrl-C") {
	}
	first := s.Process(stack.WinnowController)
	if err := syscall.Kill(first.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if !said.Scan() || !strings.Contains(said.Text(), "is started again") {
		t.Errorf("it says %q", said.Text())
	}
	err = wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 2*time.Minute, true, func(context.Context) (bool, error) {
		now := s.Process(stack.WinnowController)
		return now != first && now.Err() == nil, s.Err()
	})
	if err != nil {
		t.Error(err)
	}
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

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

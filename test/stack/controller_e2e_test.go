// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package stack_test

import (
	"net/http"
	"testing"

	"github.com/winnow-dev/winnow/test/stack"
)

func TestControllerRunsUnderItsServiceAccount(t *testing.T) {
	s := start(t, stack.Options{})
	if _, err := s.ServiceAccountKubeconfig(t.Context(), stack.WinnowNamespace, "absent"); err == nil {
		t.Error("a ServiceAccount that does not exist has a token")
	}
	if err := s.ApplyKustomization(t.Context(), "config/default"); err != nil {
		t.Fatal(err)
	}
	first, err := s.StartController(t.Context(), stack.ControllerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	get(t, "http://"+first.MetricsAddr+"/metrics")
	if err := first.Stop(); err != nil {
		t.Error(err)
	}
	if first.Err() != nil {
		t.Errorf("SIGTERM does not end it gracefully: %v", first.Err())
	}
	second, err := s.StartController(t.Context(), stack.ControllerOptions{DataDir: first.DataDir})
	if err != nil {
		t.Fatal(err)
	}
	if second.StorageAddr != first.StorageAddr {
		t.Errorf("its address changes from %s to %s", first.StorageAddr, second.StorageAddr)
	}
	if first.LogPath() == second.LogPath() {
		t.Error("the second one overwrites the log of the first")
	}
	if err := second.Kill(); err != nil {
		t.Error(err)
	}
	if s.Err() != nil {
		t.Errorf("what the test ends counts as failure: %v", s.Err())
	}
}

func get(t *testing.T, url string) {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		t.Error(err)
	}
	if response.StatusCode != http.StatusOK {
		t.Errorf("%s answers %s", url, response.Status)
	}
}

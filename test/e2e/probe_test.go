// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/fluxcd/pkg/runtime/conditions"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// awaitControllerIdle waits until the controller has handled its queue: until it has published a
// selection that this function creates.
func (s *scenario) awaitControllerIdle() {
	s.t.Helper()
	probe := &v1alpha1.CatalogSelection{}
	probe.Name, probe.Namespace = s.name+"-probe", s.name
	probe.Spec = *s.selection.Spec.DeepCopy()
	s.create(probe)
	s.await("the probe", func(ctx context.Context) error {
		if err := system.Client().Get(ctx, keyOf(probe), probe); err != nil || !conditions.IsReady(probe) {
			return fmt.Errorf("not ready: %w %+v", err, probe.Status.Conditions)
		}
		return nil
	})
	s.remove(probe)
}

func get(ctx context.Context, url string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", url, response.Status)
	}
	return string(body), err
}

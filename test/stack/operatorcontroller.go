// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"net/http"
	"path/filepath"
)

// operatorControllerNamespace is the namespace in which operator-controller keeps what it has installed.
const operatorControllerNamespace = "olmv1-system"

// StartOperatorController starts operator-controller, which installs the ClusterExtensions of the cluster with the
// bundles that catalogd finds, from images in the registry of the stack.
func (s *Stack) StartOperatorController(ctx context.Context, catalogd *RunningCatalogd) (*Process, error) {
	if err := s.Apply(ctx, []byte("apiVersion: v1\nkind: Namespace\nmetadata: {name: "+operatorControllerNamespace+"}\n")); err != nil {
		return nil, err
	}
	const authorities = "authorities"
	certificate := map[string][]byte{authorities + "/catalogd.crt": catalogd.certificate}
	return s.startOLM(ctx, OperatorController, certificate, func(home string) (launch, error) {
		addresses, err := freeAddresses(1)
		if err != nil {
			return launch{}, err
		}
		return launch{
			env: []string{"KUBECONFIG=" + s.kubeconfig, "HOME=" + home, "TMPDIR=" + home},
			args: []string{
				"--catalogd-cas-dir=" + filepath.Join(home, authorities),
				"--cache-path=" + filepath.Join(home, "cache"), // which operator-controller empties
				"--system-namespace=" + operatorControllerNamespace,
				"--health-probe-bind-address=" + addresses[0],
			},
			ready: answers(http.DefaultClient, "http://"+addresses[0]+"/readyz"),
		}, nil
	})
}

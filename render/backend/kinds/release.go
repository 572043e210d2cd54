// SPDX-License-Identifier: Apache-2.0

package kinds

import "strings"

// ChartNameChangeStrategy is the field of a HelmRelease that the newest release of helm-controller is needed for.
const ChartNameChangeStrategy = "chartNameChangeStrategy"

// RequiredRelease returns the end of a message on a field that the API server, or a CustomResourceDefinition, does not have: the
// release that has it; empty for other messages.
func RequiredRelease(message string) string {
	if !strings.Contains(message, "."+ChartNameChangeStrategy) {
		return ""
	}
	return "; instances of the backend Helm need Flux 2.9 (helm-controller 1.6) or newer"
}

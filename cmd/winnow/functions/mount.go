// SPDX-License-Identifier: Apache-2.0

package functions

import "regexp"

// mountPattern is that of kustomize's --mount, without what a shell or a line of flags would read in another way.
var mountPattern = regexp.MustCompile(`^[a-z]+=[A-Za-z0-9._/:@%+-]+(,[a-z]+=[A-Za-z0-9._/:@%+-]+)+$`)

// IsMount reports whether a text is a value of kustomize's --mount.
func IsMount(text string) bool { return mountPattern.MatchString(text) }

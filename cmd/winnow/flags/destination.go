// SPDX-License-Identifier: Apache-2.0

package flags

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/cmd/winnow/output"
)

// ToStdout is the value of a flag that names standard output instead of a file or directory.
const ToStdout = "-"

// CheckDestination checks the value of a flag that takes a file or a directory: it must not be a word for a format, as the
// -o of other verbs takes.
func CheckDestination(cmd *cobra.Command, flag, what, value string) error {
	switch {
	case value == ToStdout:
		return fmt.Errorf("%s takes a %s, not standard output", flag, what)
	case slices.Contains(append(output.Formats(), output.FormatText), value):
		return fmt.Errorf("%s takes a %s; %s has no format %s (the %s of that name is ./%s)",
			flag, what, cmd.CommandPath(), value, what, value)
	}
	return nil
}

// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"fmt"

	"github.com/winnow-dev/winnow/render/dialect"
	"github.com/winnow-dev/winnow/render/lint/corpus"
)

// readersDiffer reports of what readers of a definition read different values. The readers of default values that are a text agree.
func readersDiffer(c *corpus.Corpus, report corpus.Report) {
	for _, d := range c.Definitions {
		dialect.Differences(d.Root.Node, func(line int, format string, args ...any) {
			report(d, d.Path, line, "%s", fmt.Sprintf(format, args...))
		})
	}
}

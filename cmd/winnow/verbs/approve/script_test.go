// SPDX-License-Identifier: Apache-2.0

package approve_test

import (
	"testing"

	"github.com/winnow-dev/winnow/test/clitest"
)

func TestMain(m *testing.M) { clitest.Main(m, nil) }

func TestScripts(t *testing.T) { clitest.RunScripts(t) }

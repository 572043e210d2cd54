// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"flag"
	"strings"
	"testing"
)

func TestHelpNamesTheFlags(t *testing.T) {
	var out, narration bytes.Buffer
	err := run(t.Context(), []string{"-h"}, &out, &narration)
	if !errors.Is(err, flag.ErrHelp) {
		t.Errorf("got %v, want flag.ErrHelp", err)
	}
	for _, want := range []string{"-build", "-dir"} {
		if !strings.Contains(narration.String(), want) {
			t.Errorf("help lacks %s:\n%s", want, &narration)
		}
	}
}

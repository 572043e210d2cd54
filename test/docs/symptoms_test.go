// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	reasonConstant = regexp.MustCompile(`(?m)^\t\w+Reason\s*= "(\w+)"$`)
	quotedMessage  = regexp.MustCompile(`"([^"\n]+)"`)
)

// Reasons that nobody has to act on.
const quietReasons = " Succeeded NothingHeld GarbageCollected "

// An on-call engineer searches the page for what a condition has.
func TestEveryReasonIsASymptom(t *testing.T) {
	page := read(t, filepath.Join(root, "docs/symptoms.md"))
	reasons := reasonConstant.FindAllStringSubmatch(read(t, filepath.Join(root, "api/v1alpha1/conditions.go")), -1)
	if len(reasons) < 30 {
		t.Fatalf("only %d reasons are found", len(reasons))
	}
	for _, reason := range reasons {
		if !strings.Contains(quietReasons, " "+reason[1]+" ") && !strings.Contains(page, "`"+reason[1]+"`") {
			t.Errorf("docs/symptoms.md does not have the reason %s", reason[1])
		}
	}
}

func TestQuotedMessagesAreThoseOfTheCode(t *testing.T) {
	var code strings.Builder
	for _, file := range files(t, ".go") {
		if !strings.HasSuffix(file, "_test.go") {
			code.WriteString(read(t, file))
		}
	}
	quoted := 0
	for _, line := range strings.Split(read(t, filepath.Join(root, "docs/symptoms.md")), "\n") {
		for _, match := range quotedMessage.FindAllStringSubmatch(line, -1) {
			quoted++
			if !strings.Contains(code.String(), match[1]) {
				t.Errorf("no message has %q", match[1])
			}
		}
	}
	if quoted < 20 {
		t.Errorf("only %d messages are found", quoted)
	}
}

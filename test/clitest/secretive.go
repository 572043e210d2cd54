// SPDX-License-Identifier: Apache-2.0

package clitest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/winnow-dev/winnow/test/canary"
)

// Run runs scripts, and fails those whose commands print the secret of canary.
func Run(t *testing.T, params testscript.Params) { testscript.RunT(secretive{t}, params) }

// secretive fails a script whose commands print the secret of canary.
type secretive struct{ *testing.T }

// Run implements testscript.T.
func (s secretive) Run(name string, run func(testscript.T)) {
	s.T.Run(name, func(t *testing.T) { run(secretive{t}) })
}

// Verbose implements testscript.T: all output is logged.
func (s secretive) Verbose() bool { return true }

// Log implements testscript.T.
func (s secretive) Log(args ...any) {
	text := fmt.Sprint(args...)
	for line := range strings.Lines(text) {
		if found := canary.In(line); found != "" && !strings.HasPrefix(line, "> ") { // a command may have it
			s.Errorf("a command prints a secret, as %q: %s", found, line)
		}
	}
	if testing.Verbose() || s.Failed() {
		s.T.Log(text)
	}
}

// setUpCredentials gives a script its own configuration of Docker, with a secret that most registries do not get.
func setUpCredentials(env *testscript.Env) error {
	directory := filepath.Join(env.WorkDir, "docker")
	env.Setenv("DOCKER_CONFIG", directory)
	if err := os.Mkdir(directory, 0o700); err != nil {
		return err
	}
	const config = `{"auths": {"charts.example.com": {"username": "bot", "password": %q}}}`
	return os.WriteFile(filepath.Join(directory, "config.json"), fmt.Appendf(nil, config, canary.Secret), 0o600)
}

// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
)

// olmModule pins the servers of OLM.
const olmModule = "olm"

// olmServer returns the build of a server of OLM, which is a command of operator-controller's module.
func olmServer(name string, minutes int) server {
	return server{
		name: name, module: olmModule, pkg: operatorController + "/cmd/" + name,
		versionOf:   operatorController,
		versionVars: []string{operatorController + "/internal/shared/version.version"},
		tags:        "containers_image_openpgp", minutes: minutes,
	}
}

// olmServers returns the builds of catalogd, which unpacks and serves catalog images, and of operator-controller, which
// installs what they have.
func olmServers() []server {
	return []server{olmServer(Catalogd, 4), olmServer(OperatorController, 1)}
}

// BuildOLM builds the servers of OLM that are missing, and reports progress on out. Only StartCatalogd and
// StartOperatorController need them.
func BuildOLM(ctx context.Context, out io.Writer) error {
	b, err := toolBuilder(ctx, out)
	if err != nil {
		return err
	}
	_, err = b.binaries(ctx, olmServers())
	return err
}

// OLMIsBuilt reports whether StartCatalogd and StartOperatorController find binaries.
func OLMIsBuilt(ctx context.Context) (bool, error) {
	for _, srv := range olmServers() {
		if path, err := builtTool(ctx, srv); path == "" || err != nil {
			return false, err
		}
	}
	return true, nil
}

// registriesFile names the registries without TLS, below the home directory.
const (
	registriesFile   = ".config/containers/registries.conf"
	registriesConfig = "[[registry]]\nlocation = %q\ninsecure = true\n"
)

// startOLM starts a server of OLM in a home directory with these files. It may pull from the registry of the stack.
func (s *Stack) startOLM(ctx context.Context, name string, files map[string][]byte, configure func(home string) (launch, error)) (*Process, error) {
	b, err := newBuilder(s.root, s.progress)
	if err != nil {
		return nil, err
	}
	paths, err := b.binaries(ctx, olmServers())
	if err != nil {
		return nil, err
	}
	s.progress.step("starting %s", name)
	home := filepath.Join(s.dir, name)
	files = maps.Clone(files)
	files[registriesFile] = fmt.Appendf(nil, registriesConfig, s.registryHost)
	for file, content := range files {
		path := filepath.Join(home, filepath.FromSlash(file))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o750), os.WriteFile(path, content, 0o600)); err != nil {
			return nil, fmt.Errorf("configuring %s: %w", name, err)
		}
	}
	return s.launch(ctx, command{name: name, path: paths[name], dir: home}, func() (launch, error) { return configure(home) })
}

// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/stack"
)

// Names of the catalog and its version in the guide.
const (
	guideCatalog = "registry.example.com/catalogs/winnow-example"
	guideTag     = "v1.0.0"
)

// trustGuide holds the commands and manifests of docs/guides/trust.md.
type trustGuide struct {
	generate, sign, verify string
	repository             sourcev1.OCIRepository
	selection              v1alpha1.CatalogSelection
}

var fenced = regexp.MustCompile("(?s)```(?:sh|yaml)\n(.*?)```")

// guideBlock returns the block of commands, or of YAML, of a guide that has a text.
func guideBlock(t *testing.T, guide, with string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(system.root, "docs/guides", guide))
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range fenced.FindAllStringSubmatch(string(text), -1) {
		if strings.Contains(found[1], with) {
			return found[1]
		}
	}
	t.Fatalf("the guide %s has no block with %q", guide, with)
	return ""
}

func readTrustGuide(t *testing.T) trustGuide {
	t.Helper()
	block := func(with string) string { return guideBlock(t, "trust.md", with) }
	g := trustGuide{generate: block("cosign generate-key-pair"), sign: block("cosign sign "), verify: block("cosign verify ")}
	repository, selection, _ := strings.Cut(block("kind: CatalogSelection"), "---\n")
	for document, object := range map[string]any{repository: &g.repository, selection: &g.selection} {
		if err := yaml.UnmarshalStrict([]byte(document), object); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

// signer is a user with a key who follows the guide.
type signer struct {
	t       *testing.T
	guide   trustGuide
	dir     string // contains the key, the catalog and the commands
	catalog string // address in the local registry
}

func newSigner(t *testing.T, guide trustGuide, name string) signer {
	t.Helper()
	cosign, err := stack.Cosign(t.Context(), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	s := signer{t: t, guide: guide, dir: t.TempDir(), catalog: system.RegistryHost() + "/" + name}
	// The registry here has no TLS, unlike that of the guide.
	s.command("winnow", fmt.Sprintf("exec %s \"$@\" --plain-http", system.winnow))
	s.command("cosign", fmt.Sprintf("case $1 in sign|verify) set -- \"$@\" --allow-http-registry ;; esac\nexec %s \"$@\"", cosign))
	s.mustRun(guide.generate)
	return s
}

func (s signer) command(name, script string) {
	s.t.Helper()
	file := filepath.Join(s.dir, "bin", name)
	write(s.t, file, "#!/bin/sh\n"+script+"\n")
	if err := os.Chmod(file, 0o700); err != nil {
		s.t.Fatal(err)
	}
}

// run runs commands of the guide in a directory of their own. They can reach only the registry.
func (s signer) run(script string) error {
	cmd := exec.CommandContext(s.t.Context(), "sh", "-euc", script)
	cmd.Dir = s.dir
	private, err := os.ReadFile(filepath.Join(s.dir, "cosign.key"))
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	cmd.Env = []string{
		"PATH=" + filepath.Join(s.dir, "bin") + ":" + os.Getenv("PATH"), "HOME=" + s.dir,
		"COSIGN_PASSWORD=secret", "COSIGN_PRIVATE_KEY=" + string(private),
		"HTTPS_PROXY=http://127.0.0.1:1", "HTTP_PROXY=http://127.0.0.1:1", "NO_PROXY=127.0.0.1",
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", script, err, out)
	}
	return nil
}

func (s signer) mustRun(script string) {
	s.t.Helper()
	if err := s.run(script); err != nil {
		s.t.Fatal(err)
	}
}

func (s signer) replace(script, tag string) string {
	return strings.NewReplacer(guideCatalog, s.catalog, guideTag, tag).Replace(script)
}

// publish pushes a catalog and signs it.
func (s signer) publish(tag string, apps []app) {
	s.t.Helper()
	s.write(apps)
	s.mustRun(s.replace(s.guide.sign, tag))
}

// verify verifies the manifest of a tag with the signer's key.
func (s signer) verify(tag string) error { return s.run(s.replace(s.guide.verify, tag)) }

// push pushes a catalog and does not sign it. It returns the digest.
func (s signer) push(tag string, apps []app) string {
	s.t.Helper()
	s.write(apps)
	reference := winnow(s.t, "push", "--plain-http", filepath.Join(s.dir, "catalog"), "oci://"+s.catalog+":"+tag)
	return strings.TrimPrefix(reference, "oci://"+s.catalog+"@")
}

func (s signer) write(apps []app) {
	s.t.Helper()
	catalog := filepath.Join(s.dir, "catalog")
	if err := os.RemoveAll(catalog); err != nil {
		s.t.Fatal(err)
	}
	for _, a := range apps {
		writeApp(s.t, filepath.Join(catalog, "applications", a.name), a)
	}
}

func (s signer) publicKey() string {
	s.t.Helper()
	key, err := os.ReadFile(filepath.Join(s.dir, "cosign.pub"))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(key)
}

// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/runtime/conditions"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// guideWalk are the commands of docs/guides/fleet.md.
type guideWalk struct {
	// blocks are the blocks of commands below each heading.
	blocks map[string][]string
	// awaits is the command of the function await_push.
	awaits  string
	env     []string
	printed strings.Builder
}

var (
	guideHeading  = regexp.MustCompile(`(?m)^### (.*)\n`)
	guideCommands = regexp.MustCompile("(?ms)^```sh\n(.*?)^```")
	// shellFunction matches the definition of a function.
	shellFunction = regexp.MustCompile(`(?ms)^\w+\(\) \{.*?^\}\n`)
	pushedCatalog = regexp.MustCompile(`catalogs/winnow-example@(sha256:[0-9a-f]{64})`)
)

// prepareWalk reads the guide, and makes what it takes for granted: a clone of Winnow, the kubeconfig of the hub, the account
// of the registry.
func (f *fleet) prepareWalk() {
	f.t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		f.t.Skip("git is needed")
	}
	content, err := os.ReadFile(filepath.Join(system.root, "docs/guides/fleet.md"))
	if err != nil {
		f.t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(content), "## The walk\n")
	text, _, _ = strings.Cut(text, "## Promotion\n")
	f.guide.blocks = map[string][]string{}
	headings := guideHeading.FindAllStringSubmatch(text, -1)
	for i, section := range guideHeading.Split(text, -1)[1:] {
		for _, block := range guideCommands.FindAllStringSubmatch(section, -1) {
			f.guide.blocks[headings[i][1]] = append(f.guide.blocks[headings[i][1]], block[1])
		}
	}
	f.guide.awaits = regexp.MustCompile(`(?m)^  (winnow reconcile .*)$`).FindString(text)
	kubeconfig, err := os.ReadFile(system.Kubeconfig())
	if err == nil {
		err = os.Symlink(system.root, filepath.Join(f.work, "winnow"))
	}
	if err != nil {
		f.t.Fatal(err)
	}
	auth := base64.StdEncoding.EncodeToString([]byte(fleetUser + ":" + fleetPassword))
	write(f.t, filepath.Join(f.work, "hub.kubeconfig"), string(kubeconfig))
	write(f.t, filepath.Join(f.work, "ca.crt"), string(f.registry.CA))
	write(f.t, filepath.Join(f.work, "docker/config.json"), fmt.Sprintf(`{"auths":{%q:{"auth":%q}}}`, f.registry.Host, auth))
	// The catalogs are in a registry without TLS.
	stub := filepath.Join(f.work, "bin/winnow")
	write(f.t, stub, fmt.Sprintf("#!/bin/sh\ncase $1 in approve|diff|push) set -- \"$@\" --plain-http ;; esac\nexec %s \"$@\"\n", system.winnow))
	if err := os.Chmod(stub, 0o700); err != nil {
		f.t.Fatal(err)
	}
	f.guide.env = append(os.Environ(), "PATH="+filepath.Dir(stub)+":"+os.Getenv("PATH"), "HOME="+f.work, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=somebody", "GIT_AUTHOR_EMAIL=somebody@example.com", "GIT_COMMITTER_NAME=somebody", "GIT_COMMITTER_EMAIL=somebody@example.com",
		"REGISTRY="+f.registry.Host, "SSL_CERT_FILE="+filepath.Join(f.work, "ca.crt"), "DOCKER_CONFIG="+filepath.Join(f.work, "docker"))
}

// step runs the commands below a heading of the guide as they stand. The functions deploy and await_push are those of the
// stack: tests need no kubectl.
func (f *fleet) step(heading string) {
	f.t.Helper()
	if len(f.guide.blocks[heading]) == 0 {
		f.t.Fatalf("the guide has no commands below %q", heading)
	}
	for _, block := range f.guide.blocks[heading] {
		switch {
		case strings.Contains(block, "secretRef"): // of a registry without TLS
			continue
		case strings.Contains(block, "registry.example.com"):
			f.address()
			continue
		}
		var commands strings.Builder
		run := func() {
			f.guide.printed.WriteString(f.shell(strings.TrimSuffix(commands.String(), " &&\n"))) // which fails at the first error
			commands.Reset()
		}
		for line := range strings.Lines(shellFunction.ReplaceAllString(block, "")) {
			switch words := strings.Fields(line); {
			case strings.HasPrefix(line, "deploy "):
				run()
				f.deploy(words[1], words[2:])
			case strings.HasPrefix(line, "await_push"):
				run()
				f.awaitPush()
			default:
				commands.WriteString(line)
			}
		}
		run()
	}
}

// shell runs commands in the repository, once there is one.
func (f *fleet) shell(commands string) string {
	f.t.Helper()
	cmd := exec.CommandContext(f.t.Context(), "bash", "-euo", "pipefail", "-c",
		strings.ReplaceAll(commands, "$REGISTRY/catalogs/", system.RegistryHost()+"/catalogs/"))
	cmd.Dir, cmd.Env = f.dir, f.guide.env
	if _, err := os.Stat(f.dir); err != nil {
		cmd.Dir = f.work
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		f.t.Fatalf("%s: %v\n%s", commands, err, out)
	}
	return string(out)
}

// deploy applies a directory of the repository to clusters.
func (f *fleet) deploy(directory string, clusters []string) {
	f.t.Helper()
	for _, name := range clusters {
		i := slices.IndexFunc(f.spokes(), func(s *spoke) bool { return s.name == name && s.directory == directory })
		switch {
		case i >= 0:
			f.spokes()[i].deploy()
		case name == "hub" && directory == "hub":
			f.deployHub()
		default:
			f.t.Fatalf("the guide deploys %s to %s", directory, name)
		}
	}
}

// awaitPush runs the command that the guide waits by, and waits until the last catalog is rendered, and pushed where that
// differs.
func (f *fleet) awaitPush() {
	f.t.Helper()
	f.shell(f.guide.awaits)
	tag := regexp.MustCompile(`tag: (v\S+)`).FindStringSubmatch(f.read("hub/catalog.yaml"))[1]
	catalogs := pushedCatalog.FindAllStringSubmatch(f.guide.printed.String(), -1)
	origin := tag + "@" + catalogs[len(catalogs)-1][1]
	for _, name := range []string{"datacenter", "edge"} {
		of := &scenario{t: f.t, selection: f.named(name)}
		of.awaitSelection(name+" pushed at "+origin, func(cs *v1alpha1.CatalogSelection) error {
			if push := cs.Status.Push; push == nil || cs.Status.Sources[0].Revision != origin || push.Revision != cs.Status.Artifact.Revision ||
				!conditions.IsReady(cs) || !conditions.IsTrue(cs, v1alpha1.PushedCondition) {
				return fmt.Errorf("pushed %+v", push)
			}
			return nil
		})
	}
}

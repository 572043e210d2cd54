// SPDX-License-Identifier: Apache-2.0

package repository

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"path"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
)

// Identity identifies the sources that resolve to this repository.
type Identity struct {
	// Remotes maps addresses to the names of remotes.
	Remotes map[string]string
	// Named are the repositories in flags.
	Named []NamedRepository
}

// NamedRepository is a NAME=DIR: the source resolves to a directory of this repository.
type NamedRepository struct {
	// Source is the name; an empty namespace stands for any.
	Source types.NamespacedName
	dir    string
	// Used points to true once a source with the name was found.
	Used *bool
}

// ParseRepositories parses NAME=DIR and NAMESPACE/NAME=DIR. inside converts a directory to one of the repository.
func ParseRepositories(args []string, inside func(dir string) (string, error)) ([]NamedRepository, error) {
	var named []NamedRepository
	for _, arg := range args {
		name, dir, found := strings.Cut(arg, "=")
		if !found || name == "" || dir == "" {
			return nil, fmt.Errorf("--repository %s: want NAME=DIR, such as \"flux-system=.\"", plaintext.Line(arg))
		}
		dir, err := inside(dir)
		if err != nil {
			return nil, fmt.Errorf("--repository %s: %w", plaintext.Line(arg), err)
		}
		var source types.NamespacedName
		if namespace, rest, found := strings.Cut(name, "/"); found {
			source.Namespace, name = namespace, rest
		}
		source.Name = name
		named = append(named, NamedRepository{source, dir, new(bool)})
	}
	return named, nil
}

// Remotes maps the addresses of the remotes to their names.
func (g Git) Remotes(ctx context.Context) (map[string]string, error) {
	out, err := g.run(ctx, "config", "-z", "--get-regexp", `^remote\..*\.url$`)
	if none, ok := errors.AsType[*exec.ExitError](err); ok && none.ExitCode() == 1 {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the remotes of Git: %w", err)
	}
	remotes := map[string]string{}
	for entry := range strings.SplitSeq(string(out), "\x00") {
		key, url, _ := strings.Cut(entry, "\n")
		name := strings.TrimSuffix(strings.TrimPrefix(key, "remote."), ".url")
		if address := AddressOf(url); address != "" && (remotes[address] == "" || name < remotes[address]) {
			remotes[address] = name
		}
	}
	return remotes, nil
}

// Find returns the directory of this repository that the flags map a source to.
func (i Identity) Find(source types.NamespacedName) (dir string, found bool) {
	for _, n := range i.Named {
		if n.Source.Name == source.Name && (n.Source.Namespace == "" || n.Source.Namespace == source.Namespace) {
			*n.Used = true
			return n.dir, true
		}
	}
	return "", false
}

// HasName reports whether an address has the name of a remote, on whatever host.
func (i Identity) HasName(address string) bool {
	for remote := range i.Remotes {
		if path.Base(remote) == path.Base(AddressOf(address)) {
			return true
		}
	}
	return false
}

// Within returns the directory of this repository that an entry of a kustomization file names by the URL of a remote.
func (i Identity) Within(entry string) (dir string, found bool) {
	address, _, _ := strings.Cut(strings.TrimPrefix(entry, "git::"), "?")
	if !strings.Contains(address, ":") {
		address = "https://" + address
	}
	address = hostAndPath(address)
	for remote := range i.Remotes {
		if len(address) < len(remote) || !strings.EqualFold(address[:len(remote)], remote) || pinnedRef.MatchString(entry) {
			continue
		}
		if rest := strings.TrimPrefix(address[len(remote):], ".git"); rest == "" || rest[0] == '/' {
			return CleanPath(rest), true
		}
	}
	return "", false
}

// pinnedRef matches a reference of a remote base that does not follow what is committed: a commit or a version.
var pinnedRef = regexp.MustCompile(`[?&](ref|version)=([0-9a-f]{40}|v?\d+(\.\d+)*)(&|$)`)

// AddressOf normalizes the address of a repository: without scheme, user, port and suffix. It returns "" for
// text that is not an address.
func AddressOf(address string) string { return strings.ToLower(hostAndPath(address)) }

// hostAndPath is AddressOf, with capitals.
func hostAndPath(address string) string {
	host, name := "", ""
	if strings.Contains(address, "://") {
		parsed, err := url.Parse(address)
		if err != nil {
			return ""
		}
		host, name = parsed.Hostname(), parsed.Path
	} else if before, after, found := strings.Cut(address, ":"); found && !strings.Contains(before, "/") {
		// user@host:path, the syntax of scp
		host, name = before[strings.LastIndex(before, "@")+1:], after
	}
	name = strings.TrimSuffix(strings.Trim(name, "/"), ".git")
	if host == "" || name == "" {
		return ""
	}
	return host + "/" + name
}

package gitops

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
)

// addressOf normalizes the address of a repository: without scheme, user, port and suffix. It returns "" for
// text that is not an address.
func addressOf(address string) string { return strings.ToLower(hostAndPath(address)) }

// hostAndPath is addressOf, with capitals.
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

// pinnedRef matches a reference of a remote base that does not follow what is committed: a commit or a version.
var pinnedRef = regexp.MustCompile(`[?&](ref|version)=([0-9a-f]{40}|v?\d+(\.\d+)*)(&|$)`)

// within returns the directory of this repository that an entry of a kustomization file names by the URL of a remote.
func (i identity) within(entry string) (dir string, found bool) {
	address, _, _ := strings.Cut(strings.TrimPrefix(entry, "git::"), "?")
	if !strings.Contains(address, ":") {
		address = "https://" + address
	}
	address = hostAndPath(address)
	for remote := range i.remotes {
		if len(address) < len(remote) || !strings.EqualFold(address[:len(remote)], remote) || pinnedRef.MatchString(entry) {
			continue
		}
		if rest := strings.TrimPrefix(address[len(remote):], ".git"); rest == "" || rest[0] == '/' {
			return pathOf(rest), true
		}
	}
	return "", false
}

// identity identifies the sources that resolve to this repository.
type identity struct {
	// remotes maps addresses to the names of remotes.
	remotes map[string]string
	named   []namedRepository
}

// hasName reports whether an address has the name of a remote, on whatever host.
func (i identity) hasName(address string) bool {
	for remote := range i.remotes {
		if path.Base(remote) == path.Base(addressOf(address)) {
			return true
		}
	}
	return false
}

// namedRepository is a NAME=DIR: the source resolves to a directory of this repository.
type namedRepository struct {
	source types.NamespacedName
	dir    string
	// used is true once a source with the name was found.
	used *bool
}

// parseRepositories parses NAME=DIR and NAMESPACE/NAME=DIR. inside converts a directory to one of the repository.
func parseRepositories(args []string, inside func(dir string) (string, error)) ([]namedRepository, error) {
	var named []namedRepository
	for _, arg := range args {
		name, dir, found := strings.Cut(arg, "=")
		if !found || name == "" || dir == "" {
			return nil, fmt.Errorf("--repository %s: want NAME=DIR, flux-system=. say", plaintext.Line(arg))
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
		named = append(named, namedRepository{source, dir, new(bool)})
	}
	return named, nil
}

// find returns the directory of this repository that the flags map a source to.
func (i identity) find(source types.NamespacedName) (dir string, found bool) {
	for _, n := range i.named {
		if n.source.Name == source.Name && (n.source.Namespace == "" || n.source.Namespace == source.Namespace) {
			*n.used = true
			return n.dir, true
		}
	}
	return "", false
}

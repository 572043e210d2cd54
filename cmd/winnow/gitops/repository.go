package gitops

import (
	"fmt"
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
)

// addressOf normalizes the address of a repository: without scheme, user, port and suffix. It returns "" for
// text that is not an address.
func addressOf(address string) string {
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
	return strings.ToLower(host + "/" + name)
}

// identity identifies the sources that resolve to this repository.
type identity struct {
	// remotes maps addresses to the names of remotes.
	remotes map[string]string
	named   []namedRepository
}

// namedRepository is a NAME=DIR: the source resolves to a directory of this repository.
type namedRepository struct {
	source types.NamespacedName
	dir    string
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
		named = append(named, namedRepository{source, dir})
	}
	return named, nil
}

// find returns the directory of this repository that the flags map a source to.
func (i identity) find(source types.NamespacedName) (dir string, found bool) {
	for _, n := range i.named {
		if n.source.Name == source.Name && (n.source.Namespace == "" || n.source.Namespace == source.Namespace) {
			return n.dir, true
		}
	}
	return "", false
}

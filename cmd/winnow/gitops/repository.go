package gitops

import (
	"fmt"
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
)

// addressOf makes the address of a repository comparable: without scheme, user, port and suffix. It is
// empty for what is no address.
func addressOf(address string) string {
	host, name := "", ""
	if strings.Contains(address, "://") {
		parsed, err := url.Parse(address)
		if err != nil {
			return ""
		}
		host, name = parsed.Hostname(), parsed.Path
	} else if before, after, found := strings.Cut(address, ":"); found && !strings.Contains(before, "/") {
		// user@host:path, as scp has it
		host, name = before[strings.LastIndex(before, "@")+1:], after
	}
	name = strings.TrimSuffix(strings.Trim(name, "/"), ".git")
	if host == "" || name == "" {
		return ""
	}
	return strings.ToLower(host + "/" + name)
}

// identity knows which sources are this repository.
type identity struct {
	// remotes maps addresses to names.
	remotes map[string]string
	named   []namedRepository
}

// namedRepository is a NAME=DIR: the source has what is in a directory of this repository.
type namedRepository struct {
	source types.NamespacedName
	dir    string
}

// nameRepositories reads NAME=DIR, or NAMESPACE/NAME=DIR. inside makes a directory one of the repository.
func nameRepositories(args []string, inside func(dir string) (string, error)) ([]namedRepository, error) {
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

// find returns the directory of this repository that flags give to a source.
func (i identity) find(source types.NamespacedName) (dir string, found bool) {
	for _, n := range i.named {
		if n.source.Name == source.Name && (n.source.Namespace == "" || n.source.Namespace == source.Namespace) {
			return n.dir, true
		}
	}
	return "", false
}

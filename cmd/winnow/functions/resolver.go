// SPDX-License-Identifier: Apache-2.0

package functions

import (
	"context"
	"fmt"
	"regexp"

	"github.com/winnow-dev/winnow/cmd/winnow/functions/configs"
	"github.com/winnow-dev/winnow/cmd/winnow/functions/edits"
	"github.com/winnow-dev/winnow/cmd/winnow/memo"
	"github.com/winnow-dev/winnow/render/finding"
)

// Options of Resolve.
type Options struct {
	// Root has all files. Dir is the directory of the kustomization, relative to Root.
	Root, Dir string
	// Output is the directory that the files will be copied to; empty for edits in place.
	Output string
	// Catalogs are references that the user consents to, in order.
	Catalogs []string
	// Trusted are references of catalogs that kustomizations may name: files are relative to Dir.
	Trusted []string
	// Open opens a catalog.
	Open func(ctx context.Context, reference string) (*Source, error)
	// Digest asks a registry for the digest of an image. Nil: images need digests in the catalogs.
	Digest func(ctx context.Context, image string) (string, error)
	// OS and Arch of the programs.
	OS, Arch string
	// Network allows functions that need the network. Mounts, as of kustomize's --mount, allow functions that need files.
	Network bool
	Mounts  []string
	// Exec allows programs that configs name themselves. The programs of catalogs are allowed together with the
	// catalog.
	Exec bool
	// Update resolves the configs again that a catalog has supplied before, using the catalogs of today.
	Update bool
}

// Result is what resolving changes.
type Result struct {
	// Files maps the paths below the root to their new content.
	Files map[string][]byte
	// Catalogs maps paths of catalogs to their content with digests.
	Catalogs map[string][]byte
	// Changes are what was resolved and removed, a line each.
	Changes []finding.Finding
	// Stale are the configs for which the catalogs have another runtime than the one that a catalog supplied, or none.
	Stale []finding.Finding
	// Flags with which kustomize runs the functions.
	Flags []string
	Notes []string
	// Resolved, Current and Kept are the numbers of configs that got a runtime, that have the one that a catalog supplied, and that have
	// one of their own.
	Resolved, Current, Kept int
}

// mountPattern is the syntax of kustomize's --mount, except what a shell or a line of flags would read in another way.
var mountPattern = regexp.MustCompile(`^[a-z]+=[A-Za-z0-9._/:@%+-]+(,[a-z]+=[A-Za-z0-9._/:@%+-]+)+$`)

// IsMount reports whether a text is a value of kustomize's --mount.
func IsMount(text string) bool { return mountPattern.MatchString(text) }

// needs are what functions need of kustomize.
type needs struct{ function, exec, network, storage bool }

func (n *needs) add(more needs) {
	n.function = n.function || more.function
	n.exec = n.exec || more.exec
	n.network = n.network || more.network
	n.storage = n.storage || more.storage
}

// resolver resolves the configs that a walk has found.
type resolver struct {
	*configs.Walk

	Options
	sources map[string]*Source
	schemas memo.Memo
	pins    pins
	result  Result
	needs   needs
	// inline maps kustomizations to the new texts of their elements.
	inline map[string]map[edits.Element]string
	// given has the names that configs without one got.
	given map[string]bool
}

func (r *resolver) change(file string, line int, format string, args ...any) {
	r.result.Changes = append(r.result.Changes, finding.Finding{Path: r.Show(file), Line: line, Message: fmt.Sprintf(format, args...)})
}

// SPDX-License-Identifier: Apache-2.0

package input

import (
	"context"
	"strings"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/files"
	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/cmd/winnow/oci"
)

// CompleteApplications returns the names of the applications in the catalogs of --source. It skips
// registries: a completion must not wait for the network.
func CompleteApplications(ctx context.Context, sources []string) []string {
	return flags.WithinTime(ctx, func(ctx context.Context) []string {
		var names []string
		for _, arg := range sources {
			where := arg
			if _, after, named := strings.Cut(arg, "="); named && !files.Exists(arg) {
				where = after
			}
			if strings.HasPrefix(where, oci.Scheme) {
				continue
			}
			if source, err := OpenSource(ctx, where, v1alpha1.SourceReference{}, nil); err == nil {
				for _, application := range source.Catalog.Applications {
					names = append(names, application.Name)
				}
			}
		}
		return names
	})
}

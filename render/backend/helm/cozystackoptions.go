// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/winnow-dev/winnow/render/backend/definition"
	"github.com/winnow-dev/winnow/render/backend/draft"
)

// releaseOptions are what a definition of Cozystack states about its releases in annotations.
type releaseOptions struct {
	installTimeout, upgradeTimeout time.Duration
	disableWait                    bool
	// serverSide is nil for the default of helm-controller.
	serverSide *bool
}

// What Cozystack's API server writes by default, by flags of its own.
const (
	cozystackInterval      = 5 * time.Minute
	cozystackRetryInterval = 30 * time.Second
	cozystackTimeout       = 10 * time.Minute
	cozystackHistory       = 5
)

// cozystackSecret has the values of the platform and of the tenant: _cluster and _namespace, which many charts need.
const cozystackSecret = "cozystack-values"

const annotationPrefix = "release.cozystack.io/"

func annotatedOptions(d *draft.Draft) (options releaseOptions) {
	for _, name := range slices.Sorted(maps.Keys(d.Application.Annotations)) {
		option, isOption := strings.CutPrefix(name, annotationPrefix)
		if !isOption {
			continue
		}
		at := d.Field("metadata.annotations."+name, d.Application.Annotations[name])
		switch option {
		case "helm-install-timeout":
			options.installTimeout = at.Duration()
		case "helm-upgrade-timeout":
			options.upgradeTimeout = at.Duration()
		case "helm-install-disable-wait":
			is := flag(at, "true", "false")
			options.disableWait = is != nil && *is
		case "helm-server-side-apply":
			options.serverSide = flag(at, "true", "false", "enabled", "disabled")
		default:
			at.Fault("is not known here: the backend %s cannot do what it asks for", d.Backend)
		}
	}
	return options
}

// flag returns the boolean that an annotation says, in any case of the letters; nil for an empty one. Of the words, every
// second is a no.
func flag(f definition.Field, words ...string) *bool {
	text := strings.ToLower(strings.TrimSpace(f.Text()))
	if text == "" {
		return nil
	}
	i := slices.Index(words, text)
	if i < 0 {
		f.Fault("must be \"%s\"", strings.Join(words, "\" or \""))
	}
	is := i%2 == 0
	return &is
}

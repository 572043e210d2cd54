package filebased

import (
	"fmt"
	"strings"
)

// facts returns what a package has besides its graph, a line each.
func facts(one *Package) string {
	var text strings.Builder
	line := func(what string, isSet bool, value any) {
		if isSet {
			fmt.Fprintf(&text, "%s: %v\n", what, value)
		}
	}
	line("deprecated", one.Deprecated != "", one.Deprecated)
	for _, channel := range one.Channels {
		line(channel.Name+" deprecated", channel.Deprecated != "", channel.Deprecated)
	}
	for _, bundle := range one.Bundles {
		line(bundle.Name+" deprecated", bundle.Deprecated != "", bundle.Deprecated)
		line(bundle.Name+" provides", bundle.Provides != nil, bundle.Provides)
		line(bundle.Name+" requires", bundle.Dependencies != nil, bundle.Dependencies)
		line(bundle.Name+" supports", bundle.InstallModes != nil, bundle.InstallModes)
	}
	return text.String()
}

// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/winnow-dev/winnow/cmd/winnow/verbs/imports/bundle"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// Options are where an operator runs, and which namespaces it watches.
type Options struct {
	InstallNamespace string
	// WatchNamespaces is empty for all namespaces.
	WatchNamespaces []string
}

// The install modes of an operator: which namespaces it can watch.
const (
	allNamespaces   = "AllNamespaces"
	ownNamespace    = "OwnNamespace"
	singleNamespace = "SingleNamespace"
	multiNamespace  = "MultiNamespace"
)

// checkModes returns an error if the operator cannot watch the namespaces.
func checkModes(modes []bundle.Mode, o Options) error {
	usable := each.Where(modes, func(m bundle.Mode) bool { return m.Supported })
	supported := each.Map(usable, func(m bundle.Mode) string { return m.Type })
	if len(supported) == 0 {
		return errors.New("it supports no install mode")
	}
	for _, needed := range needs(o) {
		if !slices.Contains(supported, needed) {
			return fmt.Errorf("it does not support the install mode %s, only %s: %s", needed, strings.Join(supported, ", "), advice(supported, o))
		}
	}
	return nil
}

// Check returns an error if a name is none of a namespace, or is watched twice.
func (o Options) Check() error {
	for i, name := range o.WatchNamespaces {
		if slices.Contains(o.WatchNamespaces[:i], name) {
			return fmt.Errorf("the namespace %s is watched twice", excerpt.Quoted(name))
		}
	}
	for _, name := range append([]string{o.InstallNamespace}, o.WatchNamespaces...) {
		if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
			return fmt.Errorf("%s is no name of a namespace: %s", excerpt.Quoted(name), problems[0])
		}
	}
	return nil
}

// needs returns the install modes that the options need.
func needs(o Options) (modes []string) {
	switch {
	case len(o.WatchNamespaces) == 0:
		return []string{allNamespaces}
	case len(o.WatchNamespaces) > 1:
		modes = []string{multiNamespace}
	case o.WatchNamespaces[0] != o.InstallNamespace:
		return []string{singleNamespace}
	}
	if slices.Contains(o.WatchNamespaces, o.InstallNamespace) {
		modes = append(modes, ownNamespace)
	}
	return modes
}

// advice returns the flags for a mode that the operator supports.
func advice(supported []string, o Options) string {
	switch {
	case slices.Contains(supported, allNamespaces):
		return "leave --watch-namespace out"
	case slices.Contains(supported, ownNamespace):
		return "pass --watch-namespace " + o.InstallNamespace
	}
	return "pass --watch-namespace with another namespace than " + o.InstallNamespace
}

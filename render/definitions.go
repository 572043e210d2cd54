package render

import (
	"fmt"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/identity"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// distinctKinds refuses definitions of Cozystack that install the same kind: its API server would
// serve either of them, and reconcile the releases of both. A catalog alone cannot have two, several
// sources and patches can.
func distinctKinds(definitions []safeguard.Definition) error {
	first := map[string]safeguard.Definition{}
	var errs []error
	for _, d := range definitions {
		kind := d.Identity[identity.Kind]
		if kind == "" {
			continue
		}
		other, taken := first[kind]
		if !taken {
			first[kind] = d
			continue
		}
		errs = append(errs, fmt.Errorf("%s of the source %s and %s of the source %s both install the kind %q, which Cozystack serves once: "+
			"add one of the two to spec.exclude", other.Name, other.Source, d.Name, d.Source, kind))
	}
	if len(errs) == 0 {
		return nil
	}
	return &Error{Code: v1alpha1.InvalidSpecReason, Field: "spec.sources", Err: bounded(errs)}
}

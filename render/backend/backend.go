package backend

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Backend translates instances into objects of certain kinds.
type Backend interface {
	// Type is the name of the backend in a spec.
	Type() string
	// Targets are the kinds, besides those of the core group, that the cluster must serve. An empty Kind
	// stands for the kinds that definitions name.
	Targets() []schema.GroupVersionKind
	// Identity says which live object, and which release of Helm, the instance is.
	Identity(instance Instance) (Identity, error)
	// Build returns the objects of the instance, sorted by kind, namespace and name. Exactly one of them is
	// Main. The error joins all problems, each of which is an *Error.
	Build(instance Instance) ([]Object, error)
}

// API groups of definitions.
const (
	kkpGroup       = "apps.kubermatic.k8c.io"
	cozystackGroup = "cozystack.io"
)

// All returns the backends.
func All() []Backend {
	return []Backend{
		helmBackend(),
		installationBackend(),
		applicationBackend(),
		terraformBackend(),
		extensionBackend(),
		subscriptionBackend(),
	}
}

// Named returns the backend of a type, nil if there is none.
func Named(name string) Backend {
	all := All()
	if i := slices.IndexFunc(all, func(b Backend) bool { return b.Type() == name }); i >= 0 {
		return all[i]
	}
	return nil
}

// Default returns the type of the backend that installs the definitions of an API group unless an instance
// names another one, empty if there is none.
func Default(group string) string {
	switch group {
	case kkpGroup:
		return Helm
	case cozystackGroup:
		return CozystackApplication
	default:
		return ""
	}
}

// translation is a backend that consists of a function.
type translation struct {
	name    string
	targets []schema.GroupVersionKind
	// build adds the objects, or problems, to the draft.
	build func(*draft)
}

func (t translation) Type() string { return t.name }

func (t translation) Targets() []schema.GroupVersionKind { return slices.Clone(t.targets) }

func (t translation) Build(instance Instance) ([]Object, error) {
	d, err := t.translate(instance)
	if err != nil {
		return nil, err
	}
	return d.objects, nil
}

func (t translation) Identity(instance Instance) (Identity, error) {
	d, err := t.translate(instance)
	if err != nil {
		return Identity{}, err
	}
	i := slices.IndexFunc(d.objects, func(o Object) bool { return o.Role == Main })
	identity := IdentityOf(d.objects[i])
	identity.Release.Chart, identity.Targets = d.chart, TargetsIn(d.objects[i], d.objects)
	return identity, nil
}

func (t translation) translate(instance Instance) (*draft, error) {
	d := newDraft(t.name, instance)
	if d.check(); len(d.problems) == 0 {
		t.build(d)
	}
	if len(d.problems) == 0 {
		d.finish()
	}
	return d, d.err()
}

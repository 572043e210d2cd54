package backend

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
)

const (
	// maxReleaseName is Helm's limit.
	maxReleaseName = 53
	// maxObject bounds an object in bytes. The API server stores objects in etcd, whose requests have at most
	// 1.5 MiB, with what is added to an object beside it.
	maxObject = 1 << 20
	// defaultInterval of what Flux reconciles.
	defaultInterval = 10 * time.Minute
)

// draft collects the objects of an instance.
type draft struct {
	Instance

	backend string
	// spec of the definition.
	spec field
	// chart is the name of the chart, if the instance says it.
	chart    string
	objects  []Object
	problems []*Error
}

func newDraft(backend string, instance Instance) *draft {
	d := &draft{Instance: instance, backend: backend}
	d.spec = field{draft: d, path: "spec", value: instance.Definition}
	return d
}

// add adds an object with metadata and whatever else it has.
func (d *draft) add(role Role, kind schema.GroupVersionKind, namespace, name string, content map[string]any) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: content}
	object.SetGroupVersionKind(kind)
	object.SetName(name)
	if namespace != "" {
		object.SetNamespace(namespace)
	}
	d.objects = append(d.objects, Object{Unstructured: object, Role: role})
	return object
}

// finish sorts and checks the objects.
func (d *draft) finish() {
	slices.SortFunc(d.objects, compareObjects)
	for i, object := range d.objects {
		d.writable("its "+object.GetKind(), object.Object)
		if problems := validation.IsDNS1123Subdomain(object.GetName()); len(problems) > 0 {
			d.refuse("", "the name %s of its %s is not valid: %s: give the instance another name", quote(object.GetName()), object.GetKind(), problems[0])
		}
		encoded, err := json.Marshal(object.Object)
		if err != nil {
			d.refuse("", "encoding its %s: %v", object.GetKind(), err)
		}
		if d.objects[i].Bytes = len(encoded); len(encoded) > maxObject {
			d.refuse("", "its %s has more than %d bytes, which the API server cannot store: shorten the values", object.GetKind(), maxObject)
		}
	}
}

// compareObjects orders objects by their key.
func compareObjects(a, b Object) int {
	x, y := a.GroupVersionKind(), b.GroupVersionKind()
	return cmp.Or(cmp.Compare(x.Group, y.Group), cmp.Compare(x.Kind, y.Kind),
		cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
}

// interval returns the interval of the instance.
func (d *draft) interval() time.Duration { return cmp.Or(d.Interval, defaultInterval) }

// namespace returns where the application runs.
func (d *draft) namespace() string { return cmp.Or(d.TargetNamespace, d.Namespace) }

// digest returns a short digest of texts, for a name.
func digest(parts ...string) string {
	const length = 10
	encoded, _ := json.Marshal(parts) // strings cannot fail
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:])[:length]
}

// setText, setTrue, setDuration and setMap set a member that is not empty.
func setText(object map[string]any, name, value string) {
	if value != "" {
		object[name] = value
	}
}

func setTrue(object map[string]any, name string, value bool) {
	if value {
		object[name] = true
	}
}

func setDuration(object map[string]any, name string, value time.Duration) {
	if value > 0 {
		object[name] = value.String()
	}
}

func setMap[V any](object map[string]any, name string, value map[string]V) {
	if len(value) == 0 {
		return
	}
	members := make(map[string]any, len(value))
	for key, member := range value {
		members[key] = member
	}
	object[name] = members
}

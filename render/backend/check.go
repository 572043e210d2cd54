package backend

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
)

// maxReferences bounds the references and dependencies of an instance.
const maxReferences = 100

var (
	valuesKeyPattern  = regexp.MustCompile(`^[\-._a-zA-Z0-9]{1,253}$`)
	targetPathPattern = regexp.MustCompile(`^([a-zA-Z0-9_\-.\\/]|\[[0-9]{1,5}\])+$`)
)

const maxTargetPath = 250

// check refuses what no backend accepts.
func (d *draft) check() {
	if d.Application == nil {
		d.refuse("application", "is missing")
		return
	}
	d.label("name", d.Name)
	d.label("namespace of the selection", d.Namespace)
	for path, value := range map[string]string{"namespace": d.TargetNamespace, "storageNamespace": d.StorageNamespace} {
		if value != "" {
			d.label(path, value)
		}
	}
	d.subdomain("releaseName", d.ReleaseName)
	if len(d.ReleaseName) > maxReleaseName {
		d.refuse("releaseName", "%s has %d characters, and Helm allows %d", quote(d.ReleaseName), len(d.ReleaseName), maxReleaseName)
	}
	d.subdomain("serviceAccountName", d.ServiceAccountName)
	d.subdomain("access.secretRef", d.Access.SecretRef)
	d.subdomain("access.certSecretRef", d.Access.CertSecretRef)
	if !slices.Contains([]string{"", "generic", "aws", "azure", "gcp"}, d.Access.Provider) {
		d.refuse("access.provider", "%s must be generic, aws, azure or gcp", quote(d.Access.Provider))
	}
	d.duration("interval", d.Interval)
	d.duration("timeout", d.Timeout)
	d.references()
	d.writable("values", d.Values)
	slices.SortFunc(d.problems, func(a, b *Error) int { return cmp.Compare(a.Error(), b.Error()) })
}

func (d *draft) label(path, value string) {
	if problems := validation.IsDNS1123Label(value); len(problems) > 0 {
		d.refuse(path, "%s is not valid: %s", quote(value), problems[0])
	}
}

func (d *draft) subdomain(path, value string) {
	if value == "" {
		return
	}
	if problems := validation.IsDNS1123Subdomain(value); len(problems) > 0 {
		d.refuse(path, "%s is not valid: %s", quote(value), problems[0])
	}
}

// duration refuses what Flux, which knows no unit below milliseconds, would refuse.
func (d *draft) duration(path string, value time.Duration) {
	if value < 0 || value%time.Millisecond != 0 {
		d.refuse(path, "%s must be positive, in milliseconds at the least", value)
	}
}

func indexed(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

func (d *draft) references() {
	if len(d.ValuesFrom) > maxReferences || len(d.DependsOn) > maxReferences {
		d.refuse("", "valuesFrom and dependsOn have at most %d entries", maxReferences)
		return
	}
	for i, from := range d.ValuesFrom {
		from.check(func(path, format string, args ...any) { d.refuse(indexed("valuesFrom", i)+"."+path, format, args...) })
	}
	for i, name := range d.DependsOn {
		d.subdomain(indexed("dependsOn", i), name)
	}
}

// check reports what the API server would refuse, with the name of the field.
func (r ValuesReference) check(report func(path, format string, args ...any)) {
	if r.Kind != "ConfigMap" && r.Kind != "Secret" {
		report("kind", "%s must be ConfigMap or Secret", quote(r.Kind))
	}
	if problems := validation.IsDNS1123Subdomain(r.Name); len(problems) > 0 {
		report("name", "%s is not valid: %s", quote(r.Name), problems[0])
	}
	if r.ValuesKey != "" && !valuesKeyPattern.MatchString(r.ValuesKey) {
		report("valuesKey", "%s is no key of a ConfigMap or a Secret", quote(r.ValuesKey))
	}
	if path := r.TargetPath; path != "" && (len(path) > maxTargetPath || !targetPathPattern.MatchString(path)) {
		report("targetPath", "%s is no path in dot notation of at most %d characters", quote(path), maxTargetPath)
	}
}

// unsupported refuses the fields of an instance, of those listed, that are set.
func (d *draft) unsupported(fields ...string) {
	for _, name := range fields {
		if d.given(name) {
			d.refuse(name, "the backend %s has no such field: leave it out", d.backend)
		}
	}
}

// given reports whether a field of the instance is set that not every backend has.
func (d *draft) given(name string) bool {
	return map[string]bool{
		"namespace":           d.TargetNamespace != "" && d.TargetNamespace != d.Namespace,
		"createNamespace":     d.CreateNamespace != nil && *d.CreateNamespace,
		"releaseName":         d.ReleaseName != "",
		"storageNamespace":    d.StorageNamespace != "",
		"serviceAccountName":  d.ServiceAccountName != "",
		"interval":            d.Interval != 0,
		"timeout":             d.Timeout != 0,
		"suspend":             d.Suspend,
		"dependsOn":           len(d.DependsOn) > 0,
		"valuesFrom":          len(d.ValuesFrom) > 0,
		"destroyResources":    d.DestroyResources,
		"version":             d.Version != "",
		"channels":            len(d.Channels) > 0,
		"catalog":             d.Catalog != CatalogReference{},
		"createOperatorGroup": d.CreateOperatorGroup != nil,
		"values":              len(d.Values) > 0,
	}[name]
}

// ofGroup refuses definitions of other API groups.
func (d *draft) ofGroup(groups ...string) bool {
	if d.Package != nil {
		d.refuse("backend", "the backend %s installs no packages of OLM: name %s or %s", d.backend, ClusterExtension, Subscription)
		return false
	}
	d.unsupported("channels", "catalog", "createOperatorGroup")
	if slices.Contains(groups, d.Application.Group) {
		return true
	}
	d.refuse("backend", "the backend %s installs no definitions of %s: name another backend", d.backend, quote(d.Application.Group))
	return false
}

// setDependencies sets dependsOn of an object of Flux with a name.
func (d *draft) setDependencies(spec map[string]any, name string) {
	if i := slices.Index(d.DependsOn, name); i >= 0 {
		d.refuse(indexed("dependsOn", i), "is the instance itself")
	}
	names := slices.Compact(slices.Sorted(slices.Values(d.DependsOn)))
	list := make([]any, 0, len(names))
	for _, name := range names {
		list = append(list, map[string]any{"name": name})
	}
	if len(list) > 0 {
		spec["dependsOn"] = list
	}
}

// SPDX-License-Identifier: Apache-2.0

package draft

import (
	"cmp"
	"regexp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// check refuses what no backend accepts.
func (d *Draft) check() {
	if d.Application == nil {
		d.Refuse("application", "is missing")
		return
	}
	d.Label("name", d.Name)
	d.Label("namespace of the selection", d.Namespace)
	for path, value := range map[string]string{"namespace": d.TargetNamespace, "storageNamespace": d.StorageNamespace} {
		if value != "" {
			d.Label(path, value)
		}
	}
	d.Subdomain("releaseName", d.ReleaseName)
	if len(d.ReleaseName) > backend.MaxReleaseName {
		d.Refuse("releaseName", "%s has %d characters, and Helm allows %d", excerpt.Quoted(d.ReleaseName), len(d.ReleaseName), backend.MaxReleaseName)
	}
	d.Subdomain("serviceAccountName", d.ServiceAccountName)
	d.Subdomain("access.secretRef", d.Access.SecretRef)
	d.Subdomain("access.certSecretRef", d.Access.CertSecretRef)
	if !slices.Contains([]string{"", "generic", "aws", "azure", "gcp"}, d.Access.Provider) {
		d.Refuse("access.provider", "%s must be generic, aws, azure or gcp", excerpt.Quoted(d.Access.Provider))
	}
	d.duration("interval", d.Interval)
	d.duration("timeout", d.Timeout)
	if d.Deploy.Retries != nil && *d.Deploy.Retries < 0 {
		d.Refuse("deploy.retries", "%d must be at least 0", *d.Deploy.Retries)
	}
	d.references()
	checkWritable("values", d.Values, d.Refuse)
	slices.SortFunc(d.Problems, func(a, b *backend.Error) int { return cmp.Compare(a.Error(), b.Error()) })
}

// maxReferences bounds the references and dependencies of an instance.
const maxReferences = 100

var (
	valuesKeyPattern  = regexp.MustCompile(`^[\-._a-zA-Z0-9]{1,253}$`)
	targetPathPattern = regexp.MustCompile(`^([a-zA-Z0-9_\-.\\/]|\[[0-9]{1,5}\])+$`)
)

const maxTargetPath = 250

// Label refuses a value that is no label of DNS.
func (d *Draft) Label(path, value string) {
	if problems := validation.IsDNS1123Label(value); len(problems) > 0 {
		d.Refuse(path, "%s is not valid: %s", excerpt.Quoted(value), problems[0])
	}
}

// Subdomain refuses a value that is no subdomain of DNS, unless it is empty.
func (d *Draft) Subdomain(path, value string) {
	if value == "" {
		return
	}
	if problems := validation.IsDNS1123Subdomain(value); len(problems) > 0 {
		d.Refuse(path, "%s is not valid: %s", excerpt.Quoted(value), problems[0])
	}
}

// duration refuses what Flux, which knows no unit below milliseconds, would refuse.
func (d *Draft) duration(path string, value time.Duration) {
	if value < 0 || value%time.Millisecond != 0 {
		d.Refuse(path, "%s must be positive, in milliseconds at the least", value)
	}
}

func (d *Draft) references() {
	if len(d.ValuesFrom) > maxReferences || len(d.DependsOn) > maxReferences {
		d.Refuse("", "valuesFrom and dependsOn have at most %d entries", maxReferences)
		return
	}
	for i, from := range d.ValuesFrom {
		CheckReference(from, func(path, format string, args ...any) {
			d.Refuse(backend.Indexed("valuesFrom", i)+"."+path, format, args...)
		})
	}
	for i, name := range d.DependsOn {
		d.Subdomain(backend.Indexed("dependsOn", i), name)
	}
}

// CheckReference reports what the API server would refuse, with the name of the field.
func CheckReference(r v1alpha1.ValuesReference, report func(path, format string, args ...any)) {
	if r.Kind != "ConfigMap" && r.Kind != "Secret" {
		report("kind", "%s must be ConfigMap or Secret", excerpt.Quoted(r.Kind))
	}
	if problems := validation.IsDNS1123Subdomain(r.Name); len(problems) > 0 {
		report("name", "%s is not valid: %s", excerpt.Quoted(r.Name), problems[0])
	}
	if r.ValuesKey != "" && !valuesKeyPattern.MatchString(r.ValuesKey) {
		report("valuesKey", "%s is no key of a ConfigMap or a Secret", excerpt.Quoted(r.ValuesKey))
	}
	if path := r.TargetPath; path != "" && (len(path) > maxTargetPath || !targetPathPattern.MatchString(path)) {
		report("targetPath", "%s is no path in dot notation of at most %d characters", excerpt.Quoted(path), maxTargetPath)
	}
}

// Unsupported refuses the fields of an instance, of those listed, that are set.
func (d *Draft) Unsupported(fields ...string) {
	for _, name := range fields {
		if d.Given(name) {
			d.Refuse(name, "the backend %s has no such field: leave it out", d.Backend)
		}
	}
}

// Given reports whether a field of the instance is set that not every backend has.
func (d *Draft) Given(name string) bool {
	return map[string]bool{
		"namespace":           d.TargetNamespace != "" && d.TargetNamespace != d.Namespace,
		"createNamespace":     d.CreateNamespace != nil && *d.CreateNamespace,
		"releaseName":         d.ReleaseName != "",
		"storageNamespace":    d.StorageNamespace != "",
		"serviceAccountName":  d.ServiceAccountName != "",
		"interval":            d.Interval != 0,
		"timeout":             d.Timeout != 0,
		"deploy.wait":         d.Deploy.Wait != nil,
		"deploy.atomic":       d.Deploy.Atomic != nil,
		"deploy.retries":      d.Deploy.Retries != nil,
		"suspend":             d.Suspend,
		"dependsOn":           len(d.DependsOn) > 0,
		"valuesFrom":          len(d.ValuesFrom) > 0,
		"destroyResources":    d.DestroyResources,
		"version":             d.Version != "",
		"channels":            len(d.Channels) > 0,
		"catalog":             d.Catalog != v1alpha1.CatalogReference{},
		"createOperatorGroup": d.CreateOperatorGroup != nil,
		"values":              len(d.Values) > 0,
	}[name]
}

// Installs refuses packages, and definitions that the backend cannot read.
func (d *Draft) Installs(readable bool) bool {
	if d.Package != nil {
		d.Refuse("backend", "the backend %s installs no packages of OLM: name %s or %s", d.Backend, backend.ClusterExtension, backend.Subscription)
		return false
	}
	d.Unsupported("channels", "catalog", "createOperatorGroup")
	if readable {
		return true
	}
	d.Refuse("backend", "the backend %s installs no definitions of %s: name another backend", d.Backend, excerpt.Quoted(d.Application.Group))
	return false
}

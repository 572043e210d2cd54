package backend

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"
)

// chart is the chart of a version of KKP.
type chart struct {
	url, name, version string
	plainHTTP          bool
}

func (c chart) isOCI() bool { return strings.HasPrefix(c.url, "oci://") }

// maxTag is the limit of registries.
const maxTag = 128

var (
	chartNamePattern  = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._-]{0,127}$`)
	repositoryPattern = regexp.MustCompile(`^[a-z0-9]+([._-]+[a-z0-9]+)*(/[a-z0-9]+([._-]+[a-z0-9]+)*)*$`)
	tagPattern        = regexp.MustCompile(`^[a-zA-Z0-9_][a-zA-Z0-9._-]*$`)
)

// versionEntry returns the entry of spec.versions that is installed.
func (d *draft) versionEntry() (entry field, ok bool) {
	versions := d.spec.get("versions").items()
	i := slices.IndexFunc(versions, func(f field) bool { return f.get("version").text() == d.Version })
	switch {
	case len(d.problems) > 0:
		return field{}, false
	case d.Version == "":
		d.refuse("version", "is missing: the definition has versions")
		return field{}, false
	case i < 0:
		d.fault("spec.versions", "has no entry %s", quote(d.Version))
		return field{}, false
	}
	return versions[i], true
}

// helmChart returns the chart of the version.
func (d *draft) helmChart() chart {
	entry, ok := d.versionEntry()
	if !ok {
		return chart{}
	}
	template := entry.get("template")
	source, helm := template.get("source"), template.get("source", "helm")
	if credentials := template.get("templateCredentials"); credentials.isSet() {
		credentials.fault("are for charts that KKP packages itself, which Flux cannot: install another version, or leave the application to KKP")
	}
	if git := source.get("git"); git.isSet() {
		git.fault("is a chart in a Git repository, which this backend does not install: push the chart to a registry, and use source.helm")
		return chart{}
	}
	if !helm.isSet() {
		helm.fault("is missing: the backend %s installs charts of Helm repositories and registries", d.backend)
		return chart{}
	}
	d.checkTransport(helm)
	c := chart{
		url: strings.TrimRight(helm.get("url").required(), "/"), name: helm.get("chartName").required(),
		version: helm.get("chartVersion").required(), plainHTTP: helm.get("plainHTTP").isTrue(),
	}
	if len(d.problems) == 0 {
		d.checkChart(helm, c)
	}
	return c
}

// checkTransport refuses what Flux has no equivalent for.
func (d *draft) checkTransport(helm field) {
	if helm.get("insecure").isTrue() {
		helm.get("insecure").fault("switches off the verification of certificates, which Flux cannot: " +
			"give Flux the certificate authority by mirrors[].flux.certSecretRef, and leave insecure out")
	}
	if credentials := helm.get("credentials"); credentials.isSet() && d.Access.SecretRef == "" && isGeneric(d.Access.Provider) {
		credentials.fault("name keys of Secrets in the namespace of KKP, and Flux reads Secrets of a fixed form in that of the selection: " +
			"name one by mirrors[].flux.secretRef")
	}
}

func isGeneric(provider string) bool { return provider == "" || provider == "generic" }

func (d *draft) checkChart(helm field, c chart) {
	address, err := url.Parse(c.url)
	if err != nil {
		address = &url.URL{} // the error may quote a password
	}
	switch at := helm.get("url"); {
	case address.Host == "" || !slices.Contains([]string{"http", "https", "oci"}, address.Scheme):
		at.fault("must be a URL that begins with https://, http:// or oci://")
	case address.User != nil || address.RawQuery != "" || address.Fragment != "" || address.ForceQuery:
		at.fault("must have neither a user, nor a query, nor a fragment, which could hold a password")
	}
	if !c.isPinned() {
		helm.get("chartVersion").fault("%s must be one version, not a range: the chart must not change under the same definition", quote(c.version))
	}
	if c.isOCI() {
		helm.get("url").checkRepository(strings.TrimPrefix(address.Path, "/"))
		helm.get("chartName").checkRepository(c.name)
		if tag := c.tag(); len(tag) > maxTag || !tagPattern.MatchString(tag) {
			helm.get("chartVersion").fault("%s is no tag of a registry", quote(c.version))
		}
	} else if !chartNamePattern.MatchString(c.name) {
		helm.get("chartName").fault("%s is no name of a chart", quote(c.name))
	}
}

// checkRepository refuses a path that no repository in a registry has.
func (f field) checkRepository(path string) {
	if path != "" && !repositoryPattern.MatchString(path) {
		f.fault("%s is no name of a repository in a registry: it has lower case letters and digits, with . _ - and / between them", quote(path))
	}
}

// isPinned reports whether the version is one: in a repository a part of one stands for the newest that begins so,
// in a registry it is a tag.
func (c chart) isPinned() bool {
	parse := semver.NewVersion
	if !c.isOCI() {
		parse = semver.StrictNewVersion
	}
	_, err := parse(strings.TrimPrefix(c.version, "v"))
	return err == nil
}

// tag returns the tag that Helm gives to the version in a registry, where + is not allowed.
func (c chart) tag() string { return strings.ReplaceAll(c.version, "+", "_") }

// deployOptions are those of KKP for Helm.
type deployOptions struct {
	// disableWait is set where the definition says wait: false. Without the field it is the backend's default.
	disableWait, wait, atomic, enableDNS bool
	timeout                              time.Duration
}

func (d *draft) deployOptions() deployOptions {
	helm := d.spec.get("defaultDeployOptions", "helm")
	return deployOptions{
		disableWait: helm.get("wait").isFalse(), wait: helm.get("wait").isTrue(), atomic: helm.get("atomic").isTrue(),
		enableDNS: helm.get("enableDNS").isTrue(), timeout: cmp.Or(d.Timeout, helm.get("timeout").duration()),
	}
}

// kkpNamespace is where an application of KKP runs.
type kkpNamespace struct {
	name                string
	create              bool
	labels, annotations map[string]string
}

// targetNamespace returns the namespace of the instance, otherwise that of the definition, otherwise, as in
// KKP, one called as the application.
func (d *draft) targetNamespace() kkpNamespace {
	at := d.spec.get("defaultNamespace")
	namespace := kkpNamespace{
		name:   cmp.Or(d.TargetNamespace, at.get("name").text(), d.Application.Name),
		create: !at.get("create").isFalse(), labels: at.get("labels").labels(), annotations: at.get("annotations").annotations(),
	}
	if d.CreateNamespace != nil {
		namespace.create = *d.CreateNamespace
	}
	if d.TargetNamespace == "" {
		d.label("namespace", namespace.name)
	}
	return namespace
}

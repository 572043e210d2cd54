// SPDX-License-Identifier: Apache-2.0

// Package kkp reads definitions of KKP, and has the backend whose ApplicationInstallations KKP installs. It must not know
// how Flux installs the same definitions.
package kkp

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/backend/draft"
	"github.com/winnow-dev/winnow/render/backend/field"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/definition"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// VersionEntry returns the entry of spec.versions that is installed.
func VersionEntry(d *draft.Draft) (entry field.Field, ok bool) {
	versions := d.Spec.Get("versions").Items()
	i := slices.IndexFunc(versions, func(f field.Field) bool { return f.Get("version").Text() == d.Version })
	switch {
	case len(d.Problems) > 0:
		return field.Field{}, false
	case d.Version == "":
		d.Refuse("version", "is missing: the definition has versions")
		return field.Field{}, false
	case i < 0:
		d.Fault("spec.versions", "has no entry %s", excerpt.Quoted(d.Version))
		return field.Field{}, false
	}
	return versions[i], true
}

// DeployOptions are KKP's options for Helm.
type DeployOptions struct {
	// DisableWait is set where the definition says wait: false. Without the field it is the backend's default.
	DisableWait, wait, Atomic, EnableDNS bool
	Timeout                              time.Duration
}

// ReadDeployOptions returns the options of the definition, and of the instance, which replaces the timeout.
func ReadDeployOptions(d *draft.Draft) DeployOptions {
	helm := d.Spec.Get("defaultDeployOptions", "helm")
	return DeployOptions{
		DisableWait: helm.Get("wait").IsFalse(), wait: helm.Get("wait").IsTrue(), Atomic: helm.Get("atomic").IsTrue(),
		EnableDNS: helm.Get("enableDNS").IsTrue(), Timeout: cmp.Or(d.Timeout, helm.Get("timeout").Duration()),
	}
}

// TargetNamespace returns the namespace of the instance, otherwise the definition's, otherwise, as in KKP,
// one called as the application.
func TargetNamespace(d *draft.Draft) draft.Destination {
	at := d.Spec.Get("defaultNamespace")
	namespace := draft.Destination{
		Name:   cmp.Or(d.TargetNamespace, at.Get("name").Text(), d.Application.Name),
		Create: !at.Get("create").IsFalse(), Labels: at.Get("labels").Labels(), Annotations: at.Get("annotations").Annotations(),
	}
	if d.CreateNamespace != nil {
		namespace.Create = *d.CreateNamespace
	}
	if d.TargetNamespace == "" {
		d.Label("namespace", namespace.Name)
	}
	return namespace
}

// LeftDelimiter begins a template in default values.
const LeftDelimiter = "{{"

// ReadDefaultValues reads the default values of a definition of KKP as they stand there, with templates. path is the path
// of their field, and text the block that they are written in, if they are.
func ReadDefaultValues(d *draft.Draft) (values map[string]any, path, text string) {
	_, from, text := definition.DefaultValues(d.Spec)
	if text == "" {
		values = from.Mapping()
		if at, found := backend.RoundedIn("", values); found {
			from.Fault("%s %s", backend.PrintablePath(at), backend.RoundedProblem)
		}
		return values, from.Path, ""
	}
	if len(d.Spec.Get(definition.ValuesMapping).Mapping()) > 0 {
		from.Fault("stands beside spec.defaultValues: one of them has to go")
		return nil, from.Path, ""
	}
	values, err := backend.DecodeValues([]byte(text))
	if err != nil {
		advice := ""
		if strings.Contains(text, LeftDelimiter) {
			advice = ": the text must be YAML before its templates are executed, so put them in quotes"
		}
		from.Fault("%v%s", err, advice)
	}
	return values, from.Path, text
}

// DefaultValues returns the default values of a definition of KKP, with the templates that they have; nil for others.
func DefaultValues(spec map[string]any) (map[string]any, error) {
	d := draft.New("", backend.Instance{Application: &catalog.Application{}, Definition: spec}) // problems name the application
	values, _, _ := ReadDefaultValues(d)
	return values, d.Problems.Err(d.Name)
}

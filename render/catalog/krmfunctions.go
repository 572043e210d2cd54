// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/catalog/metadata"
	"github.com/winnow-dev/winnow/render/catalog/violation"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/finding"
	"github.com/winnow-dev/winnow/render/krmfunctions"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// KRMFunctions is the format of catalogs of functions of kustomize, as KEP-2906 proposed them. A function is an
// application, and a version of its config one of it.
type KRMFunctions struct{}

// Name implements Format.
func (KRMFunctions) Name() string { return v1alpha1.FormatKRMFunctions }

// catalogLine is the apiVersion of a catalog that may have errors: one in block style.
var catalogLine = regexp.MustCompile(`(?m)^apiVersion:[ \t]+["']?` + regexp.QuoteMeta(krmfunctions.APIVersion) + `["']?[ \t]*(?:#.*)?\r?$`)

// Detect reports whether a document is a catalog of functions. It ignores trees of Applications, whose default values may
// have anything.
func (KRMFunctions) Detect(fsys fs.FS) (bool, error) {
	other, err := Applications{}.Detect(fsys)
	if other || err != nil {
		return false, err
	}
	return anyFile(fsys, krmfunctions.MaxFile, KRMFunctions{}.Needs, isFunctionCatalog)
}

// isFunctionCatalog reports whether a file has a catalog of functions, or would without its errors.
func isFunctionCatalog(data []byte) bool {
	if !bytes.Contains(data, []byte(krmfunctions.APIVersion)) {
		return false
	}
	if catalogLine.Match(data) {
		return true
	}
	for document, err := range yamlnode.Documents(data) {
		if err != nil {
			return false
		}
		root := yamlnode.Resolve(document.Content[0])
		if yamlnode.Validate(root) == nil && krmfunctions.IsKind(yamlnode.TextAt(root, "apiVersion"), yamlnode.TextAt(root, "kind")) {
			return true
		}
	}
	return false
}

// Needs implements Format.
func (KRMFunctions) Needs(name string) bool {
	return yamlnode.IsYAMLOrJSON(name) && !isBelowHidden(name)
}

// Load implements Format.
func (KRMFunctions) Load(ctx context.Context, fsys fs.FS) (*Catalog, error) {
	loaded, err := krmfunctions.Load(ctx, fsys)
	if err == nil {
		err = loaded.Valid() // without a function, what was published of it would be gone
	}
	switch invalid, ok := errors.AsType[*krmfunctions.InvalidError](err); {
	case ok:
		var all violation.Report
		all.Merge(violation.Findings{Kept: asViolations(invalid.Kept), Omitted: invalid.Omitted})
		return nil, all.Err()
	case err != nil:
		return nil, fmt.Errorf("loading a catalog of functions: %w", err)
	}
	var found violation.Report
	catalog := &Catalog{Warnings: asViolations(loaded.Warnings.Kept)}
	for _, one := range loaded.Functions {
		application := newFunction(one)
		name := application.Name
		switch problems := validation.IsDNS1123Subdomain(name); {
		case len(problems) > 0:
			found.AddTo(violation.RuleFormat, one.Path, one.Line, "the function %s cannot be the application %s: %s", excerpt.Quoted(one.Name()), excerpt.Quoted(name), problems[0])
		case len(name) > maxName:
			found.AddTo(violation.RuleFormat, one.Path, one.Line, "the name %s has %d bytes, more than %d", excerpt.Quoted(name), len(name), maxName)
		case len(one.Versions) > metadata.MaxVersions:
			found.AddTo(violation.RuleFormat, one.Path, one.Line, "the function %s has %d versions, more than %d", excerpt.Quoted(one.Name()), len(one.Versions), metadata.MaxVersions)
		default:
			catalog.kept += application.Content.Size()
			catalog.Applications = append(catalog.Applications, application)
		}
	}
	if len(catalog.Applications) == 0 {
		found.Add(".", "holds no function: spec.krmFunctions is empty")
	}
	if err := found.Err(); err != nil {
		return nil, err
	}
	slices.SortFunc(catalog.Applications, func(a, b *Application) int { return cmp.Compare(a.Name, b.Name) })
	return catalog, nil
}

func asViolations(findings []finding.Finding) []violation.Violation {
	return each.Map(findings, func(one finding.Finding) violation.Violation {
		return violation.Violation{Rule: violation.RuleFormat, Path: one.Path, Line: one.Line, Message: one.Message}
	})
}

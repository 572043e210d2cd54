package lint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/violation"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// Severity says how bad a finding is.
type Severity string

// Severities, the worst first.
const (
	// Error: the API server, KKP or Winnow refuses it, now or when it is installed, or it uninstalls
	// applications.
	Error Severity = "error"
	// Warning: it works differently than it looks.
	Warning Severity = "warning"
	// Info: a matter of style, or good to know.
	Info Severity = "info"
)

// AtLeast reports whether s is as bad as other, or worse.
func (s Severity) AtLeast(other Severity) bool { return s.rank() <= other.rank() }

func (s Severity) rank() int { return slices.Index([]Severity{Error, Warning, Info}, s) }

// Finding is one thing that a rule says about a catalog.
type Finding struct {
	// Rule is the identifier of the rule, such as kkp/semver. Identifiers are stable.
	Rule string `json:"rule"`
	// Severity of the rule.
	Severity Severity `json:"severity"`
	// Path of the file or directory, as the file system has it; "." is its root.
	Path string `json:"path"`
	// Line in the file, from 1; 0 when it is unknown or there is no file.
	Line int `json:"line,omitempty"`
	// Application is the name of the application that it is about; empty when there is none,
	// or when its name cannot be read.
	Application string `json:"application,omitempty"`
	// Message for people, without path and line.
	Message string `json:"message"`
}

// Rule is what can be found.
type Rule struct {
	// ID is <group>/<name>.
	ID string
	// Severity of all findings of the rule.
	Severity Severity
	// Summary says in one line what must hold.
	Summary string
}

// Result is what Run found.
type Result struct {
	// Findings sorted by path, line, rule and message.
	Findings []Finding
	// Applications is the number of directories, or documents, that hold, or should hold, an application.
	Applications int
	// Ignored is the number of findings that were left out.
	Ignored int
}

// Options of Run. The zero value applies all rules, with what is known of KKP and Cozystack.
type Options struct {
	// Format of the catalog; nil for the one that its content has.
	Format catalog.Format
	// Ignore are the rules whose findings are left out; see Ignorable.
	Ignore []string
	// Strict makes errors of what functions do not say of themselves.
	Strict bool
	// Schemas, if set, take the place of what is known of KKP and Cozystack.
	Schemas Schemas
}

// Schemas are the CustomResourceDefinitions of a cluster.
type Schemas interface {
	// Check returns what the API server would refuse of an object. known is false if the schemas do
	// not have its kind. The error is that of a document that cannot be read.
	Check(ctx context.Context, document []byte) (problems []Problem, known bool, err error)
}

// Problem is what an API server would refuse.
type Problem struct {
	// Field is the path of the field, such as spec.versions[0].version; empty for the whole object.
	Field string
	// Message says what is wrong with it.
	Message string
}

// Count returns the number of findings with the severity.
func (r Result) Count(severity Severity) int {
	n := 0
	for _, finding := range r.Findings {
		if finding.Severity == severity {
			n++
		}
	}
	return n
}

// Rules returns all rules, sorted by identifier.
func Rules() []Rule {
	var all []Rule
	for _, rule := range documentRules() {
		all = append(all, rule.Rule)
	}
	for _, rule := range corpusRules() {
		all = append(all, rule.Rule)
	}
	for _, rule := range packageRules() {
		all = append(all, rule.Rule)
	}
	all = append(all, loadingRules()...)
	all = append(all, schemaRules()...)
	all = append(all, misplacedListRule(), Rule{ignoreRule, Warning, "a comment winnow:ignore names a rule"},
		Rule{functionRule, Warning, "functions say what people need to know, once, and are pinned"})
	slices.SortFunc(all, func(a, b Rule) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// Run applies all rules to the catalog at the root of fsys. What makes the catalog invalid is
// found as well, and keeps no rule from looking at what can be read. The error is the file
// system's or the context's.
func Run(ctx context.Context, fsys fs.FS, options Options) (Result, error) {
	format, loaded, invalid, err := load(ctx, fsys, options.Format)
	if err != nil {
		return Result{}, err
	}
	c, err := read(ctx, fsys, format)
	if err != nil {
		return Result{}, fmt.Errorf("reading catalog: %w", err)
	}
	found := append(incomplete(loaded, options.Strict), checkPackages(loaded)...)
	if format == (catalog.Applications{}) {
		misplaced, err := misplacedLists(fsys)
		if err != nil {
			return Result{}, fmt.Errorf("reading catalog: %w", err)
		}
		found = append(found, misplaced...)
	}
	if err := c.withFiles(fsys, found); err != nil {
		return Result{}, fmt.Errorf("reading catalog: %w", err)
	}
	found = append(found, violations(invalid, c)...)
	for _, d := range c.definitions {
		if err := ctx.Err(); err != nil {
			return Result{}, err
		}
		found = append(found, d.check()...)
		more, err := d.checkSchemas(ctx, options.Schemas)
		if err != nil {
			return Result{}, err
		}
		found = append(found, more...)
	}
	for _, rule := range corpusRules() {
		rule.check(c, func(d *definition, path string, line int, format string, args ...any) {
			found = append(found, d.finding(rule.Rule, path, line, format, args...))
		})
	}
	kept, ignored := c.keep(found, options.Ignore)
	slices.SortFunc(kept, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message))
	})
	return Result{Findings: slices.Compact(kept), Applications: len(c.definitions) + contentsOf(loaded), Ignored: ignored}, nil
}

// load loads a catalog of a format, nil for the one that its content has. It returns the format, the catalog, and what
// makes it invalid.
func load(ctx context.Context, fsys fs.FS, format catalog.Format) (_ catalog.Format, loaded *catalog.Catalog, invalid *violation.InvalidError, err error) {
	if format == nil {
		format, err = catalog.Detect(fsys)
	}
	if err == nil {
		loaded, err = format.Load(ctx, fsys)
	} else {
		format = catalog.Applications{}
	}
	if errors.As(err, &invalid) {
		err = nil
	}
	return format, loaded, invalid, err
}

// keep leaves out what is ignored, and adds what is wrong with the comments that ignore it. It returns
// how many it left out.
func (c *corpus) keep(found []Finding, rules []string) (kept []Finding, ignored int) {
	comments := map[string]directives{}
	for _, d := range c.definitions {
		for _, file := range []struct {
			path string
			data []byte
		}{{d.path, d.file}, {d.metadataPath, d.metadataFile}} {
			if _, read := comments[file.path]; read {
				continue
			}
			comments[file.path] = ignoredIn(file.data, func(line int, format string, args ...any) {
				found = append(found, d.finding(Rule{ID: ignoreRule, Severity: Warning}, file.path, line, format, args...))
			})
		}
	}
	for name, data := range c.files {
		comments[name] = ignoredIn(data, func(line int, format string, args ...any) {
			found = append(found, (&definition{}).finding(Rule{ID: ignoreRule, Severity: Warning}, name, line, format, args...))
		})
	}
	for _, f := range found {
		if !slices.Contains(rules, f.Rule) && !comments[f.Path].covers(f) {
			kept = append(kept, f)
		}
	}
	return kept, len(found) - len(kept)
}

// documentRule is a rule on one definition.
type documentRule struct {
	Rule
	check func(field, report)
}

// report adds a finding in the line of a field.
type report func(at field, format string, args ...any)

// documentRules are those on KKP's definitions. Those on the definitions of all platforms are in
// schema.go.
func documentRules() []documentRule {
	return slices.Concat(webhookRules(), sourceRules(), missedRules(), valuesRules())
}

func (d *definition) finding(rule Rule, path string, line int, format string, args ...any) Finding {
	return Finding{Rule: rule.ID, Severity: rule.Severity, Path: path, Line: line,
		Application: d.name, Message: fmt.Sprintf(format, args...)}
}

func (d *definition) check() []Finding {
	if d.group != kkpGroup {
		return nil
	}
	var found []Finding
	for _, rule := range documentRules() {
		rule.check(d.root, func(at field, format string, args ...any) {
			found = append(found, d.finding(rule.Rule, d.path, at.line, format, args...))
		})
	}
	return found
}

// maxSchemaFindings of a definition are kept.
const maxSchemaFindings = 100

// checkSchemas checks a definition against the schemas, or without them against what is known.
func (d *definition) checkSchemas(ctx context.Context, schemas Schemas) ([]Finding, error) {
	if !d.root.isSet() {
		return nil, nil
	}
	rules := map[string]Rule{}
	for _, rule := range schemaRules() {
		rules[rule.ID] = rule
	}
	var found []Finding
	report := func(rule string, at field, format string, args ...any) {
		if len(found) < maxSchemaFindings {
			found = append(found, d.finding(rules[rule], d.path, at.line, format, args...))
		}
	}
	checkNamespace(d, report)
	if schemas == nil {
		checkSchema(d, report)
		return found, nil
	}
	problems, known, err := schemas.Check(ctx, d.data)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		report(definedRule, d.root, "cannot be read: %s", excerpt.Of(err.Error()))
	case !known:
		report(undefinedRule, d.root.get("apiVersion"), "no CustomResourceDefinition has %s of %s",
			quote(d.root.get("kind").text()), quote(d.root.get("apiVersion").text()))
	}
	for _, p := range problems {
		report(definedRule, d.root.at(p.Field), "%s", strings.TrimPrefix(excerpt.To(p.Field, maxPath)+": "+p.Message, ": "))
	}
	return found, nil
}

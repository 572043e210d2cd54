// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/Masterminds/semver/v3"
	"github.com/fluxcd/pkg/apis/kustomize"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/approval"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/instance"
	"github.com/winnow-dev/winnow/render/kustomized"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/selection"
)

// state is a spec over a catalog, with what is published of them.
type state struct {
	cs     *v1alpha1.CatalogSelection
	result *render.Result
	// objects are what naive reads of the built objects.
	objects naive
	text    string
}

// naive is what a publication has, as its objects say it: versions of definitions, and the fields that name releases.
type naive struct {
	versions  map[string][]string          // of a definition
	identity  map[string]map[string]string // of a definition of Cozystack
	versionOf map[string]string            // of an instance
	// keysOf has the object of an instance, and its release in the namespaces of its storage and its target.
	keysOf map[string][]string
}

// readNaive reads the objects of an artifact, which kustomize builds where there are patches.
func readNaive(result *render.Result, patched bool) (naive, error) {
	n := naive{map[string][]string{}, map[string]map[string]string{}, map[string]string{}, map[string][]string{}}
	var documents []string
	for _, path := range result.Tree.Paths() {
		if content, _ := result.Tree.Content(path); strings.Contains(path, "/") {
			documents = append(documents, string(content))
		}
	}
	if patched {
		built, err := kustomized.YAML(result.Tree)
		if err != nil {
			return n, err
		}
		documents = strings.Split(string(built), "\n---\n")
	}
	for _, document := range documents {
		var o struct {
			Kind     string
			Metadata struct {
				Name, Namespace string
				Annotations     map[string]string
			}
			Spec struct {
				Versions                                       []struct{ Version any }
				Application                                    struct{ Kind, Plural string }
				Release                                        struct{ Prefix string }
				ReleaseName, StorageNamespace, TargetNamespace string
			}
		}
		if err := yaml.Unmarshal([]byte(document), &o); err != nil {
			return n, err
		}
		if name, s := o.Metadata.Name, o.Spec; o.Kind == "ApplicationDefinition" {
			n.versions[name] = []string{}
			for _, v := range s.Versions {
				if text, ok := v.Version.(string); ok {
					n.versions[name] = append(n.versions[name], text)
				}
			}
			n.identity[name] = map[string]string{"kind": s.Application.Kind, "plural": s.Application.Plural, "prefix": s.Release.Prefix}
		} else if o.Kind == "HelmRelease" {
			in := o.Metadata.Annotations[v1alpha1.InstanceAnnotation]
			n.versionOf[in] = o.Metadata.Annotations[v1alpha1.VersionAnnotation]
			n.keysOf[in] = []string{o.Metadata.Namespace + "/" + name, "in " + s.StorageNamespace + " " + s.ReleaseName, "to " + s.TargetNamespace + " " + s.ReleaseName}
		}
	}
	return n, nil
}

// losses returns what a publication has and the next one lacks: "gone x", "version x 1.0.0", "identity x", and the same of
// instances, besides "rise x 2.0.0" to another major and "fall x 1.1.0".
func (n naive) losses(next naive) map[string]bool {
	all := map[string]bool{}
	for name, versions := range n.versions {
		now, stays := next.versions[name]
		if !stays {
			all["gone "+name] = true
			continue
		}
		for _, version := range versions {
			if !slices.Contains(now, version) {
				all["version "+name+" "+version] = true
			}
		}
		if was := n.identity[name]; was["kind"]+was["plural"]+was["prefix"] != "" && !maps.Equal(was, next.identity[name]) {
			all["identity "+name] = true
		}
	}
	for in, from := range n.versionOf {
		to, stays := next.versionOf[in]
		switch {
		case !stays && n.inherited(in, next):
			all["identity Instance/"+in] = true
			continue
		case !stays:
			all["gone Instance/"+in] = true
			continue
		case !slices.Equal(n.keysOf[in], next.keysOf[in]):
			all["identity Instance/"+in] = true
		}
		before, errBefore := semver.NewVersion(from)
		now, errNow := semver.NewVersion(to)
		switch {
		case from == to:
		case errBefore == nil && errNow == nil && now.LessThan(before):
			all["fall Instance/"+in+" "+from] = true
		case errBefore != nil || errNow != nil || before.Major() != now.Major():
			all["rise Instance/"+in+" "+to] = true
		}
	}
	return all
}

// inherited reports whether another instance gets the object or the release of one that leaves.
func (n naive) inherited(in string, next naive) bool {
	for _, keys := range next.keysOf {
		if slices.ContainsFunc(keys, func(key string) bool { return slices.Contains(n.keysOf[in], key) }) {
			return true
		}
	}
	return false
}

// excused reports whether the spec alone names a loss, or a safeguard lets it pass.
func (s *state) excused(loss string) bool {
	kind, rest, _ := strings.Cut(loss, " ")
	subject, version, _ := strings.Cut(rest, " ")
	spec := s.cs.Spec
	in, isInstance := strings.CutPrefix(subject, "Instance/")
	publishes := func(safeguard string) bool { return safeguard == v1alpha1.SafeguardPublish }
	empty := len(s.objects.versions)+len(s.objects.versionOf) == 0
	switch {
	case kind == "gone" && !isInstance:
		return slices.Contains(spec.Exclude, subject) || publishes(spec.Safeguards.OnRemoval) && !empty
	case kind == "gone":
		why := instance.Unresolved{}
		if i := slices.IndexFunc(s.result.Unresolved, func(u instance.Unresolved) bool { return u.Name == in }); i >= 0 {
			why = s.result.Unresolved[i]
		}
		if why.OfVersion {
			return publishes(spec.Safeguards.OnVersionRemoval)
		}
		return publishes(spec.Safeguards.OnRemoval) && !empty && !why.Dependent
	case kind == "identity":
		return publishes(spec.Safeguards.OnIdentityChange)
	case kind == "version":
		return publishes(spec.Safeguards.OnVersionRemoval)
	}
	exact := spec.Instances[in].Version == s.objects.versionOf[in]
	return exact || kind == "fall" && publishes(spec.Safeguards.OnVersionRemoval) || kind == "rise" && version == "" ||
		kind == "rise" && publishes(spec.Safeguards.OnInstanceUpgrade)
}

// lossesOf returns the losses that changes are, in the words of the oracle.
func lossesOf(changes []safeguard.Change) map[string]bool {
	all := map[string]bool{}
	for _, c := range changes {
		subject := c.Key.Name
		if c.Instance != "" {
			subject = "Instance/" + c.Instance
		}
		switch c.Reason {
		case v1alpha1.RemovalReason:
			all["gone "+subject] = true
		case v1alpha1.IdentityChangeReason:
			all["identity "+subject] = true
		case v1alpha1.InstanceUpgradeReason:
			all["rise "+subject+" "+c.To] = true
		case v1alpha1.VersionRemovalReason:
			switch {
			case c.Instance != "" && c.Detail != "":
				all["gone "+subject] = true
			case c.Instance != "":
				all["fall "+subject+" "+c.From] = true
			}
			for _, version := range c.Versions {
				if c.Instance == "" {
					all["version "+subject+" "+version] = true
				}
			}
		}
	}
	return all
}

// naming returns the texts of lines that name a loss.
func naming(loss string) []string {
	kind, rest, _ := strings.Cut(loss, " ")
	subject, version, _ := strings.Cut(rest, " ")
	switch kind {
	case "gone":
		return []string{subject, "ApplicationDefinition/" + subject, "ApplicationDefinition.apps.kubermatic.k8c.io/" + subject}
	case "identity":
		return []string{subject + ":identity", "ApplicationDefinition/" + subject + ":identity"}
	case "rise":
		return []string{subject + ":upgrade/" + version, subject + ":upgrade/*"}
	}
	return []string{subject + "/" + version, subject + "/*"}
}

// world makes random catalogs, specs and lines.
type world struct{ *rand.Rand }

func (w world) one(values ...string) string { return values[w.IntN(len(values))] }

// oneIn is true once in n times.
func (w world) oneIn(n int) bool { return w.IntN(n) == 0 }

func (w world) some(values ...string) []string {
	return slices.DeleteFunc(slices.Clone(values), func(string) bool { return w.oneIn(2) })
}

func (w world) catalog() fstest.MapFS {
	files := fstest.MapFS{}
	for _, name := range []string{"web", "db"} {
		versions := w.some("0.9.0", "1.0.0", "1.1.0", "2.0.0", "beta 1")
		if len(versions) == 0 {
			continue
		}
		document := "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata: {name: " + name + "}\nspec:\n  method: helm\n  default: true\n" +
			"  defaultVersion: '" + versions[0] + "'\n"
		if w.oneIn(4) {
			document += "  defaultNamespace: {name: shared-" + name + "}\n"
		}
		document += "  versions:\n"
		for _, version := range versions {
			document += fmt.Sprintf("  - {version: '%s', template: {source: {helm: {url: 'oci://charts.example.org', chartName: %s, chartVersion: 1.0.0}}}}\n", version, name)
		}
		files["applications/"+name+"/application.yaml"] = &fstest.MapFile{Data: []byte(document)}
		files["applications/"+name+"/metadata.yaml"] = &fstest.MapFile{Data: []byte("tier: " + w.one("gold", "silver") + "\n")}
	}
	if !w.oneIn(5) {
		maps.Copy(files, cozystack(w.one("vm-", "vm-", "m-") + "," + w.one("VM", "VM", "M") + ",vms")["catalog"])
	}
	return files
}

func (w world) spec(definitions string) *v1alpha1.CatalogSelection {
	return edit(func(s *v1alpha1.CatalogSelectionSpec) {
		s.Definitions = definitions
		s.Exclude = w.some("web", "db", "vm", "none")
		if !w.oneIn(3) {
			s.Exclude = nil
		}
		switch w.IntN(6) {
		case 0:
			s.Limit = &v1alpha1.Limit{NameSelector: append(w.some("web", "db", "vm"), "none")}
		case 1:
			s.Limit = &v1alpha1.Limit{MetadataSelector: &v1alpha1.MetadataSelector{TierRefs: []string{"gold"}}}
		}
		switch w.IntN(6) {
		case 0:
			s.Versions = []v1alpha1.VersionRule{{Names: w.some("web", "db"), Constraint: w.one("<2", ">=1", "~1.0")}}
		case 1:
			s.Versions = []v1alpha1.VersionRule{{Latest: int32(1 + w.IntN(2))}}
		}
		if w.oneIn(4) {
			s.Mirrors = []v1alpha1.Mirror{{From: "charts.example.org", To: w.one("oci://mirror.example.org/charts", "mirror.example.org")}}
		}
		if w.oneIn(6) {
			s.OmitFields = w.some("application", "release", "defaultVersion", "default")
		}
		w.safeguards(&s.Safeguards)
		s.Instances = map[string]v1alpha1.Instance{}
		for _, name := range w.some("web", "db", "c") {
			in := v1alpha1.Instance{Application: w.one("web", "db"), Version: w.one("", "1.0.0", "1.0.0", "2.0.0", "^1", ">=0.1", "<2", "beta 1"), ReleaseName: w.one("", "", "", "web")}
			if name != "web" && w.oneIn(2) && len(s.Instances) > 0 {
				in.DependsOn = slices.Sorted(maps.Keys(s.Instances))[:1]
			}
			s.Instances[name] = in
		}
	})
}

func (w world) safeguards(s *v1alpha1.Safeguards) {
	for _, field := range []*string{&s.OnRemoval, &s.OnVersionRemoval, &s.OnIdentityChange, &s.OnInstanceUpgrade} {
		if w.oneIn(5) {
			*field = v1alpha1.SafeguardPublish
		}
	}
}

// patch returns one that takes versions or an identity away, or that renames an object.
func (w world) patch() kustomize.Patch {
	kkp := "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata: {name: " + w.one("web", "db") + "}\n"
	target := func(name string) *kustomize.Selector {
		return &kustomize.Selector{Kind: "ApplicationDefinition", Name: name}
	}
	switch w.IntN(7) {
	case 0:
		return kustomize.Patch{Patch: kkp + "spec: {versions: [{version: " + w.one("2.0.0", "3.0.0") + "}]}\n"}
	case 1:
		return kustomize.Patch{Patch: kkp + "spec: {versions: null}\n", Target: target("web|db")}
	case 2:
		return kustomize.Patch{Patch: "- {op: remove, path: /spec/versions/0}\n", Target: target(w.one("web", "db"))}
	case 3:
		return kustomize.Patch{Patch: "- {op: replace, path: /spec/release/prefix, value: " + w.one("vm-", "p-") + "}\n", Target: target("vm")}
	case 4:
		return kustomize.Patch{Patch: "- {op: replace, path: /spec, value: {}}\n", Target: target(w.one("vm", "web"))}
	case 5:
		return kustomize.Patch{Patch: "- {op: replace, path: /metadata/name, value: other}\n", Target: target(w.one("vm", "web"))}
	}
	return kustomize.Patch{Patch: "- {op: add, path: /spec/releaseName, value: p}\n", Target: &kustomize.Selector{Kind: "HelmRelease", Name: w.one("web", "db")}}
}

// states returns three specs over four catalogs, without those that are refused: each pair of them is a change of the catalog,
// an edit, both, or the return to an older state.
func (w world) states(t *testing.T) (states []*state, refused int) {
	definitions := w.one(v1alpha1.DefinitionsPublish, v1alpha1.DefinitionsPublish, v1alpha1.DefinitionsOmit)
	specs := []*v1alpha1.CatalogSelection{w.spec(definitions), w.spec(definitions), w.spec(definitions)}
	specs[1].Spec.Instances = specs[0].Spec.Instances // edits are small
	specs[2].Spec.Limit, specs[2].Spec.Exclude = specs[0].Spec.Limit, specs[0].Spec.Exclude
	if w.oneIn(2) {
		specs[2].Spec.Patches = []kustomize.Patch{w.patch()}
	}
	for range 4 {
		files := w.catalog()
		catalog, err := render.LoadFS(t.Context(), "catalog", files, render.CatalogLocation{})
		if err != nil {
			refused += len(specs)
			continue
		}
		for _, cs := range specs {
			opts, err := render.FromSpec(cs)
			if err != nil {
				t.Fatal(err)
			}
			opts.AllowEmpty = true
			result, err := render.Render(t.Context(), []selection.Source{{Name: "catalog", Catalog: catalog}}, opts)
			if err != nil {
				refused++
				continue
			}
			objects, err := readNaive(result, len(cs.Spec.Patches) > 0)
			if err != nil {
				t.Fatal(err)
			}
			states = append(states, &state{cs, result, objects, describe(cs, files)})
		}
	}
	return states, refused
}

// describe returns a state as YAML.
func describe(cs *v1alpha1.CatalogSelection, files fstest.MapFS) string {
	text, _ := yaml.Marshal(cs.Spec)
	for name, file := range files {
		text = append(text, "\n"+name+"\n"+string(file.Data)...)
	}
	return string(text)
}

// decideWith decides about a state after another one, with lines that count and lines of the base.
func (s *state) decideWith(before *state, lines, base []string) guard.Verdict {
	named := guard.NamedBy(s.cs, s.result.Instances)
	named.Lines, named.Base = approval.ParseAll(lines), approval.ParseAll(base)
	return guard.Decide(before.result.Compared(), guard.Next{Definitions: s.result.Compared(), Unresolved: s.result.Unresolved}, named)
}

// check returns what is wrong with the decision about a state after another one; empty for nothing.
func (w world) check(before, s *state) (problem string, held int) {
	verdict, needed := s.decideWith(before, nil, nil), map[string]bool{}
	for loss := range before.objects.losses(s.objects) {
		if !s.excused(loss) {
			needed[loss] = true
		}
	}
	if got := lossesOf(verdict.Held); !maps.Equal(got, needed) {
		return fmt.Sprintf("held are %v, and lost and not named are %v", got, needed), 0
	}
	printed := guard.LinesOf(verdict.Held, guard.Fresh(nil))
	if v := s.decideWith(before, printed, nil); len(v.Held)+len(v.BaseApproved) > 0 || v.Approved() != (len(printed) > 0) || len(v.Uses) != len(printed) {
		return fmt.Sprintf("%q leave %+v, and %v are used", printed, v.Held, v.Uses), 0
	}
	for i := range printed {
		fewer := slices.Delete(slices.Clone(printed), i, i+1)
		if v := s.decideWith(before, fewer, nil); len(v.Held) == 0 || v.Approved() {
			return fmt.Sprintf("%q release it, without %s", fewer, printed[i]), 0
		}
		if v := s.decideWith(before, printed[:i], printed[i:]); len(v.Held) > 0 || len(v.BaseApproved) == 0 || v.Approved() {
			return fmt.Sprintf("%q with %q of the base: %+v", printed[:i], printed[i:], v), 0
		}
	}
	unrelated := []string{"web:live", "web/*:live", "db:source", "db/*:source", "none", "none/*", "Instance/none", "Instance/none/*", "web:major/2", "Instance/web:locked", "Instance/web:live",
		"HelmRelease/flux-system/web", "sha256:" + strings.Repeat("0", 64), "web/7.0.0", "vm/*:channel/*"}
	if v := s.decideWith(before, unrelated, unrelated); !maps.Equal(lossesOf(v.Held), needed) || len(v.BaseApproved)+len(v.Named) > 0 {
		return fmt.Sprintf("unrelated lines leave %+v, and name %+v", v.Held, v.Named), 0
	}
	return w.checkSome(before, s, needed), len(needed)
}

// checkSome decides with some lines of all that may be written: what is left is what none of them names.
func (w world) checkSome(before, s *state, needed map[string]bool) string {
	lines := w.some("web", "db", "vm", "web/*", "db/*", "web/1.0.0", "db/2.0.0", "vm:identity", "Instance/web", "Instance/db", "Instance/web/*", "Instance/db/1.0.0",
		"Instance/web:identity", "Instance/c:upgrade/*", "Instance/web:upgrade/2.0.0", "ApplicationDefinition/vm", "ApplicationDefinition.apps.kubermatic.k8c.io/web")
	left := maps.Clone(needed)
	maps.DeleteFunc(left, func(loss string, _ bool) bool {
		return slices.ContainsFunc(naming(loss), func(line string) bool {
			// A version that has no line of its own is named as any.
			return slices.Contains(lines, line)
		})
	})
	if got := lossesOf(s.decideWith(before, lines, nil).Held); !maps.Equal(got, left) {
		return fmt.Sprintf("%q leave %v, and should leave %v", lines, got, left)
	}
	return ""
}

// A publication loses nothing that Git has not named, whatever catalogs and specs become. An oracle that knows sets of versions,
// releases and lines, and nothing of the safeguards, says what is lost and what is named. WINNOW_GUARD_CASES is the number of
// cases, and WINNOW_GUARD_SEED where they begin.
func TestRandomChangesLoseNothingThatIsNotNamed(t *testing.T) {
	number := func(variable string, otherwise int) int {
		if n, err := strconv.Atoi(os.Getenv(variable)); err == nil {
			return n
		}
		return otherwise
	}
	wanted, seed := number("WINNOW_GUARD_CASES", 10_000), number("WINNOW_GUARD_SEED", 1)
	var lock sync.Mutex
	worlds, cases, held, refused, by, started := 0, 0, 0, 0, map[string]int{}, time.Now()
	explore := func() {
		for {
			lock.Lock()
			enough, i := cases >= wanted || t.Failed(), worlds
			worlds++
			lock.Unlock()
			if enough {
				return
			}
			w := world{rand.New(rand.NewPCG(uint64(seed), uint64(i)))}
			states, skipped := w.states(t)
			for _, before := range states {
				for _, s := range states {
					problem, n := w.check(before, s)
					if problem != "" {
						t.Errorf("world %d: %s\nfrom %s\nto %s", i, problem, before.text, s.text)
						return
					}
					lock.Lock()
					if cases++; n > 0 {
						held++
						for loss := range before.objects.losses(s.objects) {
							kind, _, _ := strings.Cut(loss, " ")
							by[kind]++
						}
					}
					lock.Unlock()
				}
			}
			lock.Lock()
			refused += skipped
			lock.Unlock()
		}
	}
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(explore)
	}
	workers.Wait()
	t.Logf("%d cases of %d catalogs in %s: %d are held, by %v; %d states are refused", cases, 4*worlds, time.Since(started).Round(time.Second), held, by, refused)
	for _, kind := range []string{"gone", "version", "identity", "fall", "rise"} {
		if by[kind] < cases/1000 {
			t.Errorf("of %d cases, %d have %q", cases, by[kind], kind)
		}
	}
	if refused == 0 || held < cases/4 || held == cases {
		t.Errorf("of %d cases, %d are held, and %d states are refused", cases, held, refused)
	}
}

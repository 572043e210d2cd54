// SPDX-License-Identifier: Apache-2.0

package parity

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"regexp"
	"slices"
	"strings"
)

// edit is what it does, and pairs of a pattern and a replacement for one match of it in some file. In replacements, words in
// capitals stand for something random, and WORD for the first group of the first pattern.
type edit []string

// everywhere is the replacement that changes WORD, where it ends a line, in all files and paths.
const everywhere = "EVERYWHERE"

// apply returns files with the edit, or nil if there is nothing to edit.
func (e edit) apply(r *rand.Rand, files map[string]string) map[string]string {
	files = maps.Clone(files)
	word := ""
	for pair := range slices.Chunk(e[1:], 2) {
		file, at := pick(r, files, regexp.MustCompile(pair[0]))
		if at == nil {
			return nil
		}
		text := files[file]
		if word == "" && len(at) > 2 {
			word = text[at[2]:at[3]]
		}
		if pair[1] == everywhere {
			return renamed(files, word)
		}
		replaced := regexp.MustCompile(pair[0]).ExpandString(nil, pair[1], text, at)
		words := strings.NewReplacer("WORD", word, "TAG", tagOf(r.IntN(releases)), "APP", absent(r, applications, text), "MEMBER", absent(r, members, text), "NUMBER", fmt.Sprint(r.IntN(100)))
		files[file] = text[:at[0]] + words.Replace(string(replaced)) + text[at[1]:]
	}
	maps.DeleteFunc(files, func(_, text string) bool { return text == "" })
	return files
}

// pick returns a match in the files, with its groups as regexp.FindStringSubmatchIndex returns them.
func pick(r *rand.Rand, files map[string]string, pattern *regexp.Regexp) (file string, at []int) {
	var names []string
	var all [][]int
	for _, name := range slices.Sorted(maps.Keys(files)) {
		for _, match := range pattern.FindAllStringSubmatchIndex(files[name], -1) {
			names, all = append(names, name), append(all, match)
		}
	}
	if len(all) == 0 {
		return "", nil
	}
	n := r.IntN(len(all))
	return names[n], all[n]
}

// absent returns one of some texts. The given text has not even its first line, if there is such a one.
func absent(r *rand.Rand, all []string, text string) (found string) {
	for _, n := range r.Perm(len(all)) {
		found = all[n]
		if line, _, _ := strings.Cut(found, "\n"); !strings.Contains(text, line) {
			break
		}
	}
	return found
}

func renamed(files map[string]string, word string) map[string]string {
	other, all := path.Join(path.Dir(word), "b-"+path.Base(word)), map[string]string{}
	for name, text := range files {
		name = strings.Trim(strings.ReplaceAll("/"+name+"/", "/"+word+"/", "/"+other+"/"), "/")
		all[name] = strings.ReplaceAll(text, word+"\n", other+"\n")
	}
	return all
}

// Edits of a repository. What cannot be evaluated begins with an exclamation mark, and the next commit takes it back.
const (
	document = `(?m)^(apiVersion: \w+\.toolkit)`
	list     = `(nameSelector:\n)`
	entry    = `(?m)^- (\S+\.yaml)\n`
)

// frequentEdits come together with others.
var frequentEdits = []edit{
	{"another tag", `((?:tag|value|catalog_tag): |:=)v1\.[\d.]+`, "${1}TAG"}, {"another name", list, "$1    - APP\n"}, {"a name less", `    - app-\d+\n`, ""},
	{"moved between selections", `    - (app-\d+)\n`, "", list, "$1    - WORD\n"}, {"an exclusion", `exclude: \[`, "exclude: [APP, "}, {"a member", `(sources:\n  - name: \S+\n)`, "${1}MEMBER"},
}

func edits(digests []string) []edit {
	all := []edit{
		{"!a range", `tag: v\S+`, `semver: ">=1.0.0"`}, {"!a missing tag", `tag: v\S+`, "tag: v9.0.0"}, {"!a missing digest", `digest: \S+`, "digest: sha256:" + strings.Repeat("0", 64)}, {"approvals", `approve: \[`, "approve: [APP, "},
		{"deletion", `deletionPolicy: Orphan`, "deletionPolicy: Delete"}, {"no deletion", `deletionPolicy: Delete`, "deletionPolicy: Orphan"},
		{"another version", `version: \S+`, "version: 2.0.0"}, {"another patch", `value: v1\n`, "value: vNUMBER\n"}, {"!suspended", `suspend: false`, "suspend: true"},
		{"!no pruning", `prune: true`, "prune: false"}, {"another interval", `interval: \w+`, "interval: NUMBERm"},
		{"!another selection", `(kind: CatalogSelection\nmetadata:\n  name: )\S+`, "${1}other"}, {"!another namespace", `(kind: CatalogSelection\n.+\n.+\n  namespace: )\S+`, "${1}other"},
		{"a new selection", document, "---\n" + selection("new", "") + written(nil, "", "applied", strings.Fields("new ExternalArtifact new")) + "---\n$1"}, {"renamed with its consumer", `kind: CatalogSelection\nmetadata:\n  name: (\S+)\n`, everywhere},
		{"!another directory of a cluster", `path: \./(\S+/\S+)\n`, everywhere}, {"!another name of files", entry, everywhere}, {"!not listed", entry, ""}, {"!a file less", `(?s)\AapiVersion.*`, ""},
		{"!a remote base", `(?m)^resources:\n`, "resources:\n- https://git.example.com/org/bases//base?ref=v1\n"}, {"!of elsewhere", `(kind: GitRepository\n    name: )flux-system`, "${1}elsewhere"},
		{"!a ResourceSet", document, "---\napiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata:\n  name: NUMBER\n  namespace: flux-system\nspec:\n  resourcesTemplate: \"{}\"\n---\n$1"},
		{"!a chart", document, "---\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata:\n  name: made\n  namespace: flux-system\nspec:\n  chart:\n    spec:\n      chart: ./apps\n" +
			"      sourceRef: {kind: GitRepository, name: flux-system}\n---\n$1"},
		{"!a FluxInstance", document, "---\napiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata:\n  name: flux\n  namespace: flux-system\nspec:\n  sync:\n    kind: GitRepository\n" +
			"    url: https://git.example.com/org/fleet.git\n    ref: refs/heads/main\n    path: apps\n---\n$1"},
		{"!a generator", `(?m)^resources:\n`, "configMapGenerator:\n- name: made\n  files: [kustomization.yaml]\nresources:\n"}, {"!a component", `(?m)^resources:\n`, "components: [../base]\nresources:\n"},
		{"!an encrypted object", document, "---\nsops: {version: 3.9.0}\n$1"}, {"!broken YAML", `spec:\n`, "spec: [\n"}, {"!a field of the wrong type", `interval: \w+`, "interval: [NUMBER]"},
		{"!a path that is not there", `path: \./\S+`, "path: ./elsewhere"}, {"!another catalog", `catalogs/\w+`, "catalogs/other"}, {"!a misspelt field", `  sources:\n`, "  source:\n"},
		{"!a patch of a consumer", `  sourceRef:\n    kind: (?:Ext|OCI)`, "  patches:\n  - patch: |\n      - {op: add, path: /metadata/labels/a, value: b}\n    target: {kind: ApplicationDefinition}\n$0"},
		{"!another cluster", `prune: \w+\n`, "$0  kubeConfig:\n    secretRef:\n      name: edge\n"}, {"!an ignored file", `(kind: GitRepository\n(?:.+\n)+?spec:\n)`, "$1  ignore: apps.yaml\n"},
		{"!ignored by Flux", `(namespace: \S+\n)(spec:)`, "$1  annotations: {kustomize.toolkit.fluxcd.io/reconcile: disabled}\n$2"},
	}
	for _, digest := range digests[1:] {
		all = append(all, edit{"another digest", `digest: \S+`, "digest: " + digest})
	}
	return append(all, frequentEdits...)
}

// commit is a state of a repository, with the edits that it has, and the number of the commit that was edited.
type commit struct {
	subject string
	files   map[string]string
	edited  int
}

// history returns up to a number of commits: the first has the files, each other one an edit, from one of them on, and perhaps a
// frequent one.
func history(r *rand.Rand, files map[string]string, most, from int, all, frequent []edit) []commit {
	commits, edited := []commit{{"base", files, 0}}, 0
	for n := 0; n < len(all) && len(commits) < most; n++ {
		e, more := all[(from+n)%len(all)], frequent[r.IntN(len(frequent))]
		next := commit{e[0], e.apply(r, commits[edited].files), edited}
		if next.files == nil {
			continue
		}
		if both := more.apply(r, next.files); both != nil && r.IntN(3) > 0 {
			next = commit{e[0] + ", and " + more[0], both, edited}
		}
		if commits = append(commits, next); e[0][0] != '!' {
			edited = len(commits) - 1
		}
	}
	return commits
}

// stream returns commits as git fast-import reads them, a day apart.
func stream(commits []commit) string {
	var text strings.Builder
	for n, c := range commits {
		fmt.Fprintf(&text, "commit refs/heads/main\ncommitter somebody <somebody@example.com> %d +0000\ndata %d\n%s\ndeleteall\n", 1_700_000_000+n*24*60*60, len(c.subject), c.subject)
		for _, name := range slices.Sorted(maps.Keys(c.files)) {
			fmt.Fprintf(&text, "M 100644 inline %s\ndata %d\n%s\n", name, len(c.files[name]), c.files[name])
		}
	}
	return text.String()
}

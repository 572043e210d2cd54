// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/base64"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
)

// Tags of the example catalog. The second one lost loki and a version of argocd, and has a newer one.
const (
	first  = "v1.0.0"
	second = "v2.0.0"
)

func filesOf(dir string) (map[string]string, error) {
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(os.DirFS(dir), name)
		files[name] = string(content)
		return err
	})
	return files, err
}

var (
	oldVersion = regexp.MustCompile(`(?s)    - version: 2\.13\.0\n.*?    - version: 3\.0\.0\n`)
	lastEntry  = regexp.MustCompile(`(?s)    - version: 3\.1\.5\n.*$`)
)

// exampleCatalogs returns the catalogs by their tags.
func exampleCatalogs(dir string) (map[string]map[string]string, error) {
	before, err := filesOf(dir)
	if err != nil {
		return nil, err
	}
	after := map[string]string{}
	for name, content := range before {
		if !strings.HasPrefix(name, "applications/loki/") {
			after[name] = strings.ReplaceAll(content, "- loki\n", "")
		}
	}
	const argocd = "applications/argocd/application.yaml"
	text := oldVersion.ReplaceAllString(after[argocd], "    - version: 3.0.0\n")
	newer := strings.NewReplacer("3.1.5", "3.2.0", "8.5.0", "9.0.0").Replace(lastEntry.FindString(text))
	after[argocd] = strings.TrimSuffix(text, "\n") + "\n" + newer
	return map[string]map[string]string{first: before, second: after}, nil
}

// large returns a catalog of 1,000 applications, a third of them with a logo.
func large() map[string]string {
	files := map[string]string{}
	for n := range 1_000 {
		name := fmt.Sprintf("application-%04d", n+1)
		logo := ""
		if n%3 == 0 {
			logo = "  logo: " + encoded(fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><rect width="8" height="8" rx="2" fill="#%06x"/></svg>`, n*16_000)) + "\n  logoFormat: svg+xml\n"
		}
		files["applications/"+name+"/application.yaml"] = fmt.Sprintf(definition, name, fmt.Sprintf("Application %d", n+1), "Does what number "+fmt.Sprint(n+1)+" does.", logo)
		files["applications/"+name+"/metadata.yaml"] = fmt.Sprintf("tier: %s\nlabels:\n  team: team-%d\n", []string{"gold", "silver", "bronze"}[n%3], n%12)
	}
	return files
}

const definition = `apiVersion: apps.kubermatic.k8c.io/v1
kind: ApplicationDefinition
metadata:
  name: %s
spec:
  method: helm
  displayName: %q
  description: %q
%s  defaultValuesBlock: |
    replicas: 2 # enough for a start
    service:
      type: "ClusterIP"
  versions:
  - version: 1.0.0
    template: {source: {helm: {url: "https://charts.example.com", chartName: chart, chartVersion: 1.0.0}}}
  - version: 1.1.0
    template: {source: {helm: {url: "https://charts.example.com", chartName: chart, chartVersion: 1.1.0}}}
`

func encoded(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// attack runs in a browser that takes it for markup, in a text, an attribute or a script.
const attack = `"'></script></title></textarea></style><script>window.attacked=1</script><img src=x onerror=window.attacked=1><svg onload=window.attacked=1>{{7*7}}`

// hostile returns a catalog that has an attack wherever a text may be.
func hostile() map[string]string {
	bad := fmt.Sprintf("%q", attack)
	value := strings.ReplaceAll(`apiVersion: apps.kubermatic.k8c.io/v1
kind: ApplicationDefinition
metadata:
  name: hostile
  annotations:
    note: BAD
spec:
  method: BAD
  displayName: BAD
  description: BAD
  documentationURL: "javascript:window.attacked=1"
  sourceURL: "https://example.com/\"onmouseover=\"window.attacked=1"
  logo: LOGO
  logoFormat: svg+xml
  other: BAD
  defaultVersion: 1.0.0
  defaultValuesBlock: BAD
  versions:
  - version: 1.0.0
    template: {source: {helm: {url: "javascript:window.attacked=1", chartName: BAD, chartVersion: BAD}}}
  - version: BAD
    template: {source: {helm: {url: BAD, chartName: BAD, chartVersion: BAD}}}
`, "BAD", bad)
	value = strings.ReplaceAll(value, "LOGO", encoded(`<svg xmlns="http://www.w3.org/2000/svg" onload="window.attacked=1"><script>window.attacked=1</script></svg>`))
	return map[string]string{
		"applications/hostile/application.yaml": value,
		"applications/hostile/metadata.yaml": strings.ReplaceAll("tier: gold\ndeprecated: BAD\nannotations:\n  note: BAD\nother: {BAD: BAD}\n"+
			"versions:\n  1.0.0: {deprecated: BAD, other: BAD}\n", "BAD", bad),
	}
}

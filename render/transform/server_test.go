// SPDX-License-Identifier: Apache-2.0

package transform_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// serverOf has a mirror with that helm.
func serverOf(t *testing.T, helm string) settings {
	t.Helper()
	return parseSettings(t, "omitFields: []\nmirrors:\n- {from: charts.example, to: 'oci://r.internal/charts', helm: "+helm+"}\n"+
		"- {from: plain.example, to: plain.internal, helm: "+helm+"}\n- {from: github.com, to: git.internal, helm: "+helm+"}\n")
}

func TestAMirrorSaysHowChartsAreFetched(t *testing.T) {
	const (
		full = "{credentials: {username: {name: s, key: u}, password: {name: s, key: p}}, insecure: true}"
		file = "{credentials: {registryConfigFile: {name: s, key: c}}, plainHTTP: true}"
	)
	version := func(lines ...string) string {
		return head + "  versions:\n  - version: '1'\n    template:\n      source:\n        " + strings.Join(lines, "\n        ") + "\n  method: helm\n"
	}
	for _, test := range []struct{ name, helm, from, to string }{
		{
			"all is set", full,
			version("helm:", "  url: https://charts.example # the original", "  chartName: web", "  chartVersion: 1.2.3 # last"),
			version("helm:", "  url: oci://r.internal/charts # the original", "  chartName: web", "  chartVersion: 1.2.3 # last",
				"  credentials:", "    password:", "      key: p", "      name: s", "    username:", "      key: u", "      name: s", "  insecure: true"),
		},
		{
			"credentials of the original go, as a whole", file,
			version("helm:", "  # log in", "  credentials:", "    username: {name: o, key: u}", "    password: {name: o, key: p}", "  url: https://charts.example", "  chartName: web", "  insecure: true"),
			version("helm:", "  url: oci://r.internal/charts", "  chartName: web", "  credentials:", "    registryConfigFile:", "      key: c", "      name: s", "  plainHTTP: true"),
		},
		{
			"nothing is set, so that all goes", "{}",
			version("helm:", "  url: https://charts.example", "  credentials: {registryConfigFile: {name: o, key: u}}", "  chartName: web", "  insecure: false"),
			version("helm:", "  url: oci://r.internal/charts", "  chartName: web"),
		},
		{
			"what is right stays where it is", file,
			version("helm:", "  plainHTTP: true # here", "  url: http://charts.example", "  credentials:", "    registryConfigFile: {key: c, name: s}", "  chartName: web"),
			version("helm:", "  plainHTTP: true # here", "  url: oci://r.internal/charts", "  credentials:", "    registryConfigFile: {key: c, name: s}", "  chartName: web"),
		},
		{
			"within brackets", "{insecure: true}",
			version("helm: {url: https://charts.example, plainHTTP: false, chartName: web} # c"),
			version("helm: {url: 'oci://r.internal/charts', chartName: web, insecure: true} # c"),
		},
		{
			"names that YAML takes for something else", "{credentials: {username: {name: 'null', key: 'on'}, password: {name: '123', key: '1e3'}}}",
			version("helm:", "  url: https://charts.example", "  chartName: web"),
			version("helm:", "  url: oci://r.internal/charts", "  chartName: web",
				"  credentials:", "    password:", "      key: \"1e3\"", "      name: \"123\"", "    username:", "      key: \"on\"", "      name: \"null\""),
		},
		{
			"a mirror without a scheme", "{insecure: true}",
			version("helm:", "  url: https://plain.example/a", "  chartName: web"),
			version("helm:", "  url: https://plain.internal/a", "  chartName: web", "  insecure: true"),
		},
		{
			"what is not rewritten stays", full,
			version("helm:", "  url: oci://r.internal/charts", "  chartName: web", "  plainHTTP: true"), "",
		},
		{
			"what no mirror knows stays", full,
			version("helm:", "  url: https://other.example", "  chartName: web", "  credentials: {}"), "",
		},
		{
			"Git has other credentials, which stay", full,
			version("git:", "  remote: https://github.com/a", "  credentials: {method: token}"),
			version("git:", "  remote: https://git.internal/a", "  credentials: {method: token}"),
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.to == "" {
				test.to = test.from
			}
			application := load(t, []byte(test.from))
			out := applyTo(t, serverOf(t, test.helm), application)
			if string(out.Document) != test.to {
				t.Errorf("got:\n%s\nwant:\n%s", out.Document, test.to)
			}
			if test.from == test.to && !isSame(out.Document, application.Document) {
				t.Error("what does not change is another slice")
			}
			if again := applyTo(t, serverOf(t, test.helm), transformed(t, application, out.Document)); string(again.Document) != test.to {
				t.Errorf("applied again:\n%s", again.Document)
			}
		})
	}
}

func TestEachVersionGetsTheServerOfItsMirror(t *testing.T) {
	s := parseSettings(t, "omitFields: []\nmirrors:\n"+
		"- {from: a.example, to: 'oci://r.internal/a', helm: {plainHTTP: true}}\n- {from: b.example, to: 'oci://r.internal/b'}\n")
	const from = head + `  versions:
  - {version: '1', template: {source: &a {helm: {url: 'https://a.example/x', chartName: web}}}}
  - {version: '2', template: {source: *a}}
  - {version: '3', template: {source: {helm: {url: 'https://b.example/x', chartName: web, insecure: true}}}}
  - {version: '4', template: {}}
  - {version: '5', template: {source: {helm: {url: 'https://c.example/x', chartName: web}}}}
`
	const want = head + `  versions:
    - {version: '1', template: {source: {helm: {url: 'oci://r.internal/a/x', chartName: web, plainHTTP: true}}}}
    - {version: '2', template: {source: {helm: {url: 'oci://r.internal/a/x', chartName: web, plainHTTP: true}}}}
    - {version: '3', template: {source: {helm: {url: 'oci://r.internal/b/x', chartName: web, insecure: true}}}}
    - {version: '4', template: {}}
    - {version: '5', template: {source: {helm: {url: 'https://c.example/x', chartName: web}}}}
`
	if out := apply(t, s, []byte(from)); string(out.Document) != want {
		t.Errorf("got:\n%s\nwant:\n%s", out.Document, want)
	}
}

func TestWhatKKPRefusesIsRefused(t *testing.T) {
	for _, test := range []struct{ name, mirror, source, want string }{
		{"plainHTTP with https", "{from: a.example, to: b.internal, helm: {plainHTTP: true}}", "{url: https://a.example/x, chartName: web}", "plainHTTP is for oci://"},
		{"plainHTTP of a chart in a registry that moves to https", "{from: a.example, to: 'https://b.internal'}", "{url: oci://a.example/x, chartName: web, plainHTTP: true}", "plainHTTP is for oci://"},
		{"insecure with http", "{from: a.example, to: b.internal, helm: {insecure: true}}", "{url: http://a.example/x, chartName: web}", "refuses insecure"},
		{"both, where the catalog has both", "{from: a.example, to: 'oci://b.internal'}", "{url: oci://a.example/x, chartName: web, plainHTTP: true, insecure: false}", "leave one of them out"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := parseSettings(t, "omitFields: []\nmirrors: ["+test.mirror+"]\n")
			if err := applyError(t, s, sourceOf("helm: "+test.source)); !strings.Contains(err.Error(), test.want) {
				t.Errorf("Apply() = %v", err)
			}
		})
	}
	// Without a scheme and helm, a mirror changes nothing of it, and leaves it to lint.
	s := parseSettings(t, "omitFields: []\nmirrors: [{from: a.example, to: b.internal}]\n")
	out := apply(t, s, []byte(sourceOf("helm: {url: https://a.example/x, plainHTTP: true}")))
	if want := sourceOf("helm: {url: https://b.internal/x, plainHTTP: true}"); string(out.Document) != want {
		t.Errorf("got:\n%s\nwant:\n%s", out.Document, want)
	}
}

// randomHelm returns a Helm source in one style or another.
func randomHelm(r *rand.Rand) string {
	lines := []string{"url: https://charts.example/a", "chartName: web", "chartVersion: 1.0.0"}
	for _, one := range []string{
		"insecure: true", "insecure: false # no", "plainHTTP: null", "credentials: {registryConfigFile: {name: o, key: k}}",
		"credentials:\n  # mine\n  username: {name: o, key: u}\n\n  password:\n    name: o\n    key: p", "credentials: {registryConfigFile: {key: c, name: s}}", "unknown: [a]",
	} {
		name, _, _ := strings.Cut(one, ":")
		if known := slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, name+":") }); !known && r.IntN(2) == 0 {
			lines = slices.Insert(lines, r.IntN(len(lines)+1), one)
		}
	}
	if r.IntN(3) == 0 {
		lines = slices.DeleteFunc(lines, func(line string) bool { return strings.ContainsAny(line, "\n#") })
		return "helm: {" + strings.Join(lines, ", ") + "}"
	}
	for i := range lines {
		if r.IntN(4) == 0 {
			lines[i] = "# above\n" + lines[i]
		}
		if r.IntN(6) == 0 && i > 0 {
			lines[i] = "\n" + lines[i]
		}
	}
	return strings.ReplaceAll("helm:\n"+strings.Join(lines, "\n"), "\n", "\n          ")
}

func TestRandomServersAreReplacedAndNothingElse(t *testing.T) {
	type object = map[string]any
	helmOf := func(version any) object {
		return version.(object)["template"].(object)["source"].(object)["helm"].(object)
	}
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 3))
		server := []string{"{}", "{insecure: true}", "{credentials: {registryConfigFile: {name: s, key: c}}, plainHTTP: true}"}[r.IntN(3)]
		document := head + "  versions:\n"
		for i := range 1 + r.IntN(3) {
			document += fmt.Sprintf("  - version: %d.0.0\n    template:\n      source:\n        %s\n", i, randomHelm(r))
		}
		document += "  method: helm\n"
		out := apply(t, serverOf(t, server), []byte(document))
		var want, got, set object
		for text, into := range map[string]*object{document: &want, string(out.Document): &got, server: &set} {
			if err := yaml.Unmarshal([]byte(text), into); err != nil {
				t.Fatalf("seed %d: %v in:\n%s", seed, err, text)
			}
		}
		for _, version := range want["spec"].(object)["versions"].([]any) {
			helm := helmOf(version)
			helm["url"] = "oci://r.internal/charts/a"
			for _, field := range []string{"credentials", "insecure", "plainHTTP"} {
				delete(helm, field)
			}
			maps.Copy(helm, set)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: with %s\n%s\nis\n%s", seed, server, document, out.Document)
		}
		if !strings.Contains(string(out.Document), "\n  - version: 0.0.0\n") {
			t.Fatalf("seed %d: the layout of the rest is lost:\n%s", seed, out.Document)
		}
	}
}

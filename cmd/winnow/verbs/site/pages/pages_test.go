// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/observed"
	"github.com/winnow-dev/winnow/cmd/winnow/input"
	"github.com/winnow-dev/winnow/cmd/winnow/receipt"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/site/logo"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/site/model"
	"github.com/winnow-dev/winnow/render/tree"
)

var update = flag.Bool("update", false, "write the golden files")

// maxOwn bounds the style and the script together.
const maxOwn = 60 << 10

func TestStyleAndScriptAreSmall(t *testing.T) {
	var size int
	entries, err := assets.ReadDir("assets")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		content, err := assets.ReadFile("assets/" + entry.Name())
		if err != nil {
			t.Fatal(err)
		}
		size += len(content)
		for _, word := range []string{"http:", "https:", "@import", "url(", "innerHTML", "eval("} {
			if bytes.Contains(content, []byte(word)) {
				t.Errorf("%s has %s", entry.Name(), word)
			}
		}
	}
	if size > maxOwn {
		t.Errorf("the style and the script have %d bytes, more than %d", size, maxOwn)
	}
}

// exampleSite has the catalogs of the examples, and a small fleet.
func exampleSite(t *testing.T) *model.Site {
	t.Helper()
	site := &model.Site{Unread: []model.Unread{{Where: "clusters/lost", Reason: "pulling oci://registry.example.com/lost: not found"}}}
	for _, name := range []string{"catalog", "operators"} {
		dir := map[string]string{"catalog": "examples/catalog", "operators": "examples/operators/catalog"}[name]
		source, err := input.OpenSource(t.Context(), "../../../../../"+dir, v1alpha1.SourceReference{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		c, err := model.NewCatalog(t.Context(), name, dir, "", source.Catalog)
		if err != nil {
			t.Fatal(err)
		}
		site.Catalogs = append(site.Catalogs, c)
	}
	columns := []*model.Column{
		{Clusters: []string{"clusters/berlin", "clusters/oslo"}, Sources: []string{"catalog:v1.0.0"}},
		{Stage: "spokes/staging", Sources: []string{"rendered@sha256:0123"}, Since: time.Date(2026, 1, 15, 9, 0, 0, 0, time.UTC), Held: 1},
	}
	argocd := site.Catalogs[0].Find(model.Key{Kind: "ApplicationDefinition", Name: "argocd"})
	row := &model.Row{Key: model.Key{Kind: argocd.Kind, Name: argocd.Name}, Applications: []*model.Application{argocd}, In: 2, Cells: []*model.Cell{
		{State: model.StateIn, Versions: []string{"3.0.0", "3.1.5"}, Latest: "3.1.5", Number: "3.1.5", Rule: "selected", Reason: "it meets limit", Catalog: site.Catalogs[0]},
		{State: model.StateHeld, Held: []string{"versions would be removed: 2.13.0"}},
	}}
	gone := &model.Row{Key: model.Key{Kind: argocd.Kind, Name: "loki"}, Cells: []*model.Cell{{State: model.StateOut, Rule: "limit.nameSelector", Reason: "not named"}, {}}}
	site.Fleet = &model.Fleet{
		Head: strings.Repeat("b", 40), Base: strings.Repeat("a", 40), At: time.Date(2026, 1, 15, 9, 0, 0, 0, time.UTC), Clusters: 3,
		Columns: columns, Rows: []*model.Row{row, gone},
		Held: []model.Held{{
			Where: []string{"spokes/staging"}, Object: "OCIRepository flux-system/applications", Reasons: []string{"argocd: versions would be removed: 2.13.0"},
			Lines: "metadata:\n  annotations:\n    catalog.winnow.dev/approve: argocd/2.13.0\n", File: "spokes/staging/applications.yaml",
		}},
		Deprecated: []model.Deprecated{{Row: row, Application: argocd, Message: "2.13.0: too old", Clusters: []string{"clusters/berlin"}}},
		Behind:     []model.Behind{{Repository: "oci://registry.example.com/catalog", Runs: ":v1.0.0", Newest: ":v2.0.0", Clusters: []string{"clusters/berlin"}}},
		Different: []model.Different{{Repository: "oci://registry.example.com/operators", Revisions: []model.Revision{
			{Revision: ":blue", Clusters: []string{"clusters/berlin"}}, {Revision: "", Clusters: []string{"clusters/oslo"}},
		}}},
		Upgrades:  []model.Available{{Row: row, Application: argocd, Latest: "3.2.0", From: []model.Outdated{{Version: "3.1.5", Clusters: []string{"clusters/berlin", "clusters/oslo"}}}}},
		Instances: []model.Instance{{Name: "shop", Application: "argocd", Version: "3.0.0", Latest: "3.1.5", Clusters: []string{"clusters/berlin"}}},
	}
	site.Fleet.Repository = model.Link{Name: "fleet", Text: "https://git.example.com/org/fleet", URL: "https://git.example.com/org/fleet"}
	for _, column := range columns {
		for _, name := range column.Clusters {
			site.Fleet.Members = append(site.Fleet.Members, &model.Cluster{Name: name, Column: column})
		}
	}
	site.Fleet.Members = append([]*model.Cluster{{
		Name: "rome", Stage: "spokes/staging", Column: columns[1], Observed: &observed.Cluster{
			Name: "rome", Stage: "spokes/staging", Version: "v1.1.0", Digest: "sha256:0123", Ready: "True",
			Problems: []observed.Problem{{Name: "bypassed", Message: "argocd since 2026-01-02"}},
			Receipt: &receipt.Receipt{Time: time.Date(2026, 1, 15, 8, 0, 0, 0, time.UTC), Uses: []receipt.Uses{
				{Kind: "ApplicationInstallation", Unknown: receipt.InUserClusters, Applications: []receipt.Use{{Application: "argocd", Version: "2.13.0", Installations: 5}}},
			}},
		},
	}, {Name: "clusters/lost", Unread: site.Unread}}, site.Fleet.Members...)
	return site
}

func rendered(t *testing.T, site *model.Site, title string) *tree.Tree {
	t.Helper()
	files, err := Render(t.Context(), site, title)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestPagesOfTheExamples(t *testing.T) {
	files := rendered(t, exampleSite(t), "Example")
	if again := rendered(t, exampleSite(t), "Example"); again.Digest() != files.Digest() {
		t.Error("the same site has other bytes the second time")
	}
	for _, page := range []string{"index.html", "fleet.html", "clusters.html", "clusters/rome.html", "clusters/lost.html", "catalogs/catalog/index.html", "catalogs/catalog/applications/argocd.html", "catalogs/operators/applications/courier.html"} {
		got, _ := files.Content(page)
		golden := filepath.Join("testdata", "golden", strings.ReplaceAll(page, "/", "_"))
		if *update {
			if err := os.WriteFile(golden, got, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs from %s: run with -update, and read the difference", page, golden)
		}
	}
	checkLinks(t, files)
	checkMarkup(t, files)
}

// A site without a fleet, and one without anything in its catalogs.
func TestEmptySites(t *testing.T) {
	for _, test := range []struct {
		name string
		site *model.Site
		page string
		want string
	}{
		{"nothing needs anybody", &model.Site{Fleet: &model.Fleet{}}, "index.html", "Enjoy your coffee"},
		{"the same revisions, of which none is known to be the newest", &model.Site{Fleet: &model.Fleet{}}, "index.html", "Git gives all clusters the same revision of each repository"},
		{"held changes that no earlier commit tells", &model.Site{Fleet: &model.Fleet{Head: "b", Base: "b"}}, "index.html", "what is held is not known"},
		{"held changes since an earlier commit", &model.Site{Fleet: &model.Fleet{Head: "b", Base: "a"}}, "index.html", "no change since the commit a is held"},
		{"no clusters", &model.Site{Fleet: &model.Fleet{}}, "fleet.html", "No cluster of this repository selects anything yet"},
		{"no clusters that could be read", &model.Site{Fleet: &model.Fleet{}, Unread: []model.Unread{{Reason: "not found"}}}, "fleet.html", "No cluster is known to select anything, and not all could be read"},
		{"no fleet", &model.Site{Catalogs: []*model.Catalog{{Name: "a"}}}, "index.html", "All catalogs could be read"},
		{"a catalog without applications", &model.Site{Catalogs: []*model.Catalog{{Name: "a"}}}, "catalogs/a/index.html", "This catalog has no applications yet"},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := rendered(t, test.site, "")
			content, _ := files.Content(test.page)
			if !bytes.Contains(content, []byte(test.want)) {
				t.Errorf("%s does not say %q:\n%s", test.page, test.want, content)
			}
			checkLinks(t, files)
			checkMarkup(t, files)
		})
	}
}

// Every text of a model is one of a catalog or a repository, whose author may be hostile.
func TestNoTextIsMarkup(t *testing.T) {
	for _, attack := range []string{
		`"'></script></title></textarea></style></svg><script>alert(1)</script><img src=x onerror=alert(1)><svg onload=alert(1)>{{7}}`,
		"javascript:alert(1)", "//evil.example.com/x", "data:text/html,<script>alert(1)</script>", "../../../etc/passwd", "\x00\xff\u2028</script>",
	} {
		site := exampleSite(t)
		fill(reflect.ValueOf(site), attack, map[uintptr]bool{})
		files := rendered(t, site, attack)
		for _, name := range files.Paths() {
			if strings.Contains(name, "..") || strings.ContainsAny(name, `<>"' :`) {
				t.Errorf("%q: a file is called %q", attack, name)
			}
		}
		checkLinks(t, files)
		checkMarkup(t, files)
	}
}

// fill sets each text of a value that can be set.
func fill(v reflect.Value, text string, seen map[uintptr]bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || seen[v.Pointer()] || v.Type() == reflect.TypeFor[*logo.Logo]() || v.Type() == reflect.TypeFor[*time.Location]() {
			return
		}
		seen[v.Pointer()] = true
		fill(v.Elem(), text, seen)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Name != "URL" || v.Type() != reflect.TypeFor[model.Link]() { // which the model checks
				fill(v.Field(i), text, seen)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			fill(v.Index(i), text, seen)
		}
	case reflect.String:
		if v.CanSet() && v.Type() != reflect.TypeFor[model.State]() {
			v.SetString(text)
		}
	}
}

// checkMarkup fails if a page has a script but its own, a handler, a style of its own, a form that goes somewhere, or an address
// of another scheme, and if a browser would not have its policy first.
func checkMarkup(t *testing.T, files *tree.Tree) {
	t.Helper()
	for _, name := range files.Paths() {
		if path.Ext(name) != ".html" {
			continue
		}
		content, _ := files.Content(name)
		policy := false
		for _, tag := range tags(t, content) {
			where := fmt.Sprintf("%s: <%s>", name, tag.Data)
			attributes := map[string]string{}
			for _, a := range tag.Attr {
				attributes[a.Key] = a.Val
				if strings.HasPrefix(a.Key, "on") || a.Key == "style" || a.Key == "srcdoc" || a.Key == "action" || a.Key == "formaction" {
					t.Errorf("%s has the attribute %s", where, a.Key)
				}
			}
			switch tag.Data {
			case "script":
				if attributes["src"] != rootOf(name)+"assets/site.js" || !policy {
					t.Errorf("%s of %q", where, attributes["src"])
				}
			case "meta":
				policy = policy || attributes["http-equiv"] == "Content-Security-Policy" && strings.HasPrefix(attributes["content"], "default-src 'none'; script-src 'self';")
			case "iframe", "object", "embed", "base", "style", "foreignobject", "use", "animate", "set":
				t.Errorf("%s is there", where)
			case "img":
				if !strings.HasPrefix(attributes["src"], rootOf(name)+"logos/") || attributes["loading"] != "lazy" {
					t.Errorf("%s of %q", where, attributes["src"])
				}
			case "a":
				if target, err := url.Parse(attributes["href"]); err != nil || target.Scheme+target.Host != "" &&
					(target.Scheme != "https" && target.Scheme != "http" || !strings.HasPrefix(attributes["rel"], "noopener ")) {
					t.Errorf("%s to %q, rel %q", where, attributes["href"], attributes["rel"])
				}
			}
		}
	}
}

// checkLinks fails if an address within the site leads to no file.
func checkLinks(t *testing.T, files *tree.Tree) {
	t.Helper()
	for _, name := range files.Paths() {
		if path.Ext(name) != ".html" {
			continue
		}
		content, _ := files.Content(name)
		for _, tag := range tags(t, content) {
			for _, a := range tag.Attr {
				target, err := url.Parse(a.Val)
				if !slices.Contains([]string{"href", "src"}, a.Key) || err != nil || target.Scheme+target.Host+target.Path == "" || target.Host != "" {
					continue
				}
				if _, found := files.Content(path.Join(path.Dir(name), target.Path)); !found {
					t.Errorf("%s leads to %s, which is not there", name, a.Val)
				}
			}
		}
	}
}

// tags returns the tags that begin an element.
func tags(t *testing.T, content []byte) (all []html.Token) {
	t.Helper()
	for tokens := html.NewTokenizer(bytes.NewReader(content)); ; {
		switch tokens.Next() {
		case html.ErrorToken:
			if !errors.Is(tokens.Err(), io.EOF) {
				t.Fatal(tokens.Err())
			}
			return all
		case html.StartTagToken, html.SelfClosingTagToken:
			all = append(all, tokens.Token())
		}
	}
}

func TestFilesHaveNamesOfTheirOwn(t *testing.T) {
	taken := map[string]bool{}
	seen := map[string]bool{}
	for _, text := range []string{"argocd", "argocd", "ArgoCD", "..", "", "a/b", "a b", "ä", "index", strings.Repeat("x", 300), strings.Repeat("x", 301), "con.trol"} {
		name := free(text, "identity", taken)
		if seen[name] || name == "" || strings.HasPrefix(name, ".") || strings.ContainsAny(name, `/\ `) || len(name) > 2*maxName {
			t.Errorf("free(%q) = %q", text, name)
		}
		seen[name] = true
	}
	if !seen["argocd"] || !seen["con.trol"] {
		t.Errorf("names that are safe were changed: %v", seen)
	}
}

func TestHighlight(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"keys and values", "a: b\nc: 1\nd: true # why\n", "<k a>: <s b>\n<k c>:<n  1>\n<k d>:<n  true><c  # why>\n"},
		{"a list", "- a: x\n- 3\n", "- <k a>:<s  x>\n- <n 3>\n"},
		{"a block of text", "a: |\n  b: c\n\n  # no comment\nd: 1\n", "<k a>: |\n<s   b: c>\n\n<s   # no comment>\n<k d>:<n  1>\n"},
		{"a comment alone", "  # c\n", "  <c # c>\n"},
		{"quotes with a mark", `a: "b # c"` + "\n", "<k a>:<s  \"b # c\">\n"},
		{"no YAML", "\t{{ .Values }}\nx", "\t{{ .Values }}\n<s x>"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got, plain strings.Builder
			for _, s := range highlight(test.text) {
				plain.WriteString(s.Text)
				if s.Class == "" {
					got.WriteString(s.Text)
				} else {
					fmt.Fprintf(&got, "<%s %s>", s.Class, s.Text)
				}
			}
			if plain.String() != test.text {
				t.Errorf("the text became %q", plain.String())
			}
			if got.String() != strings.ReplaceAll(test.want, ": <s b>", ":<s  b>") {
				t.Errorf("got\n%s\nwant\n%s", got.String(), test.want)
			}
		})
	}
}

// FuzzHighlight shows that the text stays the same.
func FuzzHighlight(f *testing.F) {
	f.Add("a: |\n  b\n- \"c\": 'd' # e\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		var plain strings.Builder
		for _, s := range highlight(text) {
			plain.WriteString(s.Text)
		}
		if plain.String() != text {
			t.Errorf("%q became %q", text, plain.String())
		}
	})
}

func TestAMatrixIsCutIntoPages(t *testing.T) {
	f := &model.Fleet{}
	for i := range 400 {
		f.Columns = append(f.Columns, &model.Column{Clusters: []string{fmt.Sprintf("clusters/c%d", i)}})
	}
	for i := range 300 {
		row := &model.Row{Key: model.Key{Kind: "A", Name: fmt.Sprint(i)}}
		for range f.Columns {
			row.Cells = append(row.Cells, &model.Cell{State: model.StateIn, Latest: "1.0.0"})
		}
		f.Rows = append(f.Rows, row)
	}
	files := rendered(t, &model.Site{Fleet: f}, "")
	checkLinks(t, files)
	for _, page := range []string{"fleet.html", "fleet-2.html"} {
		content, _ := files.Content(page)
		if got := bytes.Count(content, []byte("<td")); got < maxCells || got > maxCells+2_000 {
			t.Errorf("%s has %d cells", page, got)
		}
	}
	if got := files.Len(); got != 6 {
		t.Errorf("there are %d files", got)
	}
}

// An application of two catalogs has a page in each.
func TestARowLinksToThePagesOfAllCatalogs(t *testing.T) {
	site := &model.Site{Fleet: &model.Fleet{Columns: []*model.Column{{Clusters: []string{"clusters/berlin"}}}}}
	row := &model.Row{Key: model.Key{Kind: "A", Name: "argocd"}, Cells: []*model.Cell{{}}}
	for _, name := range []string{"a", "b"} {
		c := &model.Catalog{Name: name}
		c.Applications = []*model.Application{{Catalog: c, Kind: "A", Name: "argocd"}}
		site.Catalogs, row.Applications = append(site.Catalogs, c), append(row.Applications, c.Applications...)
	}
	site.Fleet.Rows = []*model.Row{row}
	site.Fleet.Upgrades = []model.Available{{Row: row, Application: row.Applications[1], Latest: "2.0.0"}}
	files := rendered(t, site, "")
	for page, want := range map[string]string{
		"fleet.html": `<a href="catalogs/a/applications/argocd.html">argocd of a</a><br><a href="catalogs/b/applications/argocd.html">argocd of b</a>`,
		"index.html": `<a href="catalogs/b/applications/argocd.html">argocd of b</a>`,
	} {
		if content, _ := files.Content(page); !bytes.Contains(content, []byte(want)) {
			t.Errorf("%s does not have\n%s\nin\n%s", page, want, content)
		}
	}
	checkLinks(t, files)
	checkMarkup(t, files)
}

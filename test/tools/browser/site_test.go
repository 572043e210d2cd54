// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

func TestNothingOfACatalogRuns(t *testing.T) {
	browser := browserOf(t)
	for _, file := range pagesOf(t, "hostile") {
		ctx, w := open(t, browser)
		run(t, ctx, chromedp.Navigate(addressOf(t, file)))
		if value[bool](t, ctx, `'attacked' in window`) {
			t.Errorf("%s: a script of the catalog has run", file)
		}
		if !value[bool](t, ctx, `document.documentElement.classList.contains('js')`) {
			t.Errorf("%s: its own script has not run", file)
		}
		if got := value[string](t, ctx, `[...document.querySelectorAll('a[href]')].map((a) => a.protocol).filter((p) => !['file:', 'http:', 'https:'].includes(p)).join(' ')`); got != "" {
			t.Errorf("%s has links with %s", file, got)
		}
		w.check(t)
	}
}

// A page that is no site of the product shows that a script would be noticed.
func TestAnAttackWouldBeNoticed(t *testing.T) {
	ctx, _ := open(t, browserOf(t))
	run(t, ctx, chromedp.Navigate("about:blank"), chromedp.Evaluate(`document.body.innerHTML = '<img src=x onerror="window.attacked=1">'`, nil),
		chromedp.Poll(`'attacked' in window`, nil))
}

func TestTheCatalogIsFiltered(t *testing.T) {
	ctx, w := open(t, browserOf(t))
	shown := func() int {
		return value[int](t, ctx, `[...document.querySelectorAll('[data-item]')].filter((item) => item.checkVisibility()).length`)
	}
	run(t, ctx, viewport(1280, 900, false), chromedp.Navigate(addressOf(t, "large/catalogs/large/index.html")))
	if got := shown(); got != 1000 {
		t.Errorf("%d of 1,000 applications are shown", got)
	}
	for _, step := range []struct {
		name   string
		action chromedp.Action
		want   int
	}{
		// The key is typed as well, because it is sent apart from its character.
		{"the key / and a number", chromedp.Tasks{chromedp.KeyEvent("/"), chromedp.KeyEvent(kb.Backspace), chromedp.KeyEvent("0042")}, 1},
		{"a number that none has", chromedp.KeyEvent("x"), 0},
		{"no text", chromedp.Tasks{chromedp.KeyEvent(kb.Backspace), chromedp.KeyEvent(kb.Backspace), chromedp.KeyEvent(kb.Backspace), chromedp.KeyEvent(kb.Backspace), chromedp.KeyEvent(kb.Backspace)}, 1000},
		{"a tier", chromedp.Evaluate(`(() => { const tier = document.querySelector('[data-filter-key=tier]'); tier.value = 'gold'; tier.dispatchEvent(new Event('input', {bubbles: true})); })()`, nil), 334},
		{"a label", chromedp.Evaluate(`(() => { const label = document.querySelector('[data-filter-key=label]'); label.value = 'team=team-3'; label.dispatchEvent(new Event('input', {bubbles: true})); })()`, nil), 84},
	} {
		run(t, ctx, step.action)
		if got := shown(); got != step.want {
			t.Errorf("%s: %d applications are shown, want %d", step.name, got, step.want)
		}
	}
	spent := value[float64](t, ctx, `(() => { const text = document.querySelector('[data-filter-text]'); const started = performance.now();
		for (const word of ['1', '12', '123', '']) { text.value = word; text.dispatchEvent(new Event('input', {bubbles: true})); document.body.offsetHeight; }
		return (performance.now() - started) / 4; })()`)
	t.Logf("a key in the search of 1,000 applications takes %.1f ms", spent)
	if spent > 250 {
		t.Errorf("a key takes %.0f ms", spent)
	}
	w.check(t)
}

func TestTheMatrixIsFiltered(t *testing.T) {
	ctx, w := open(t, browserOf(t))
	run(t, ctx, viewport(1280, 900, false), chromedp.Navigate(addressOf(t, "fleet/fleet.html")), chromedp.Click(`[data-filter-flag=held]`))
	if got := value[string](t, ctx, `[...document.querySelectorAll('tr[data-item]')].filter((row) => !row.hidden).map((row) => row.cells[0].innerText).join(' ')`); got != "argocd loki" {
		t.Errorf("held are %q", got)
	}
	w.check(t)
}

func TestTheThemeIsKept(t *testing.T) {
	ctx, w := open(t, browserOf(t))
	const theme = `document.documentElement.dataset.theme || ''`
	run(t, ctx, viewport(1280, 900, false), chromedp.Navigate(addressOf(t, "fleet/index.html")), chromedp.Click(`[data-theme-toggle]`))
	if got := value[string](t, ctx, theme); got != "dark" {
		t.Errorf("the theme is %q", got)
	}
	run(t, ctx, chromedp.Navigate(addressOf(t, "fleet/fleet.html")))
	if got := value[string](t, ctx, theme); got != "dark" {
		t.Errorf("the theme of the next page is %q", got)
	}
	w.check(t)
}

func TestACopyButtonCopies(t *testing.T) {
	ctx, w := open(t, browserOf(t))
	run(t, ctx, viewport(1280, 900, false), chromedp.Navigate(addressOf(t, "fleet/catalogs/winnow-example/applications/argocd.html")),
		chromedp.Evaluate(`Object.defineProperty(navigator, 'clipboard', {value: {writeText: (text) => { window.copied = text; return Promise.resolve(); }}}); 0`, nil),
		chromedp.Click(`[data-copy=snippet]`), chromedp.Poll(`document.querySelector('[data-copy=snippet]').textContent === 'Copied'`, nil))
	if got := value[string](t, ctx, `window.copied`); !strings.HasPrefix(got, "apiVersion: catalog.winnow.dev/v1alpha1\nkind: CatalogSelection\n") {
		t.Errorf("copied is %q", got)
	}
	w.check(t)
}

func TestPagesNeedNoScript(t *testing.T) {
	ctx, w := open(t, browserOf(t))
	run(t, ctx, viewport(1280, 900, false), emulation.SetScriptExecutionDisabled(true))
	for _, test := range []struct{ file, want string }{
		{"fleet/index.html", "versions would be removed: 2.13.0"}, {"fleet/fleet.html", "kube-prometheus-stack"},
		{"fleet/catalogs/winnow-example/index.html", "Argo CD"}, {"fleet/catalogs/winnow-example/applications/argocd.html", "sign in with the local admin"},
	} {
		var text string
		run(t, ctx, chromedp.Navigate(addressOf(t, test.file)), chromedp.Text("body", &text, chromedp.ByQuery))
		if !strings.Contains(text, test.want) {
			t.Errorf("%s does not show %q", test.file, test.want)
		}
		var buttons []string
		run(t, ctx, chromedp.Evaluate(`[...document.querySelectorAll('button, input, select')].filter((e) => e.checkVisibility()).map((e) => e.outerHTML)`, &buttons))
		if len(buttons) > 0 {
			t.Errorf("%s shows %s, which does nothing", test.file, buttons)
		}
	}
	w.check(t)
}

// violation is what axe-core has found.
type violation struct {
	ID, Impact, Help string
	Nodes            []struct{ HTML, FailureSummary string }
}

func TestPagesAreAccessible(t *testing.T) {
	browser := browserOf(t)
	library, err := os.ReadFile(*axe)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{
		"fleet/index.html", "fleet/fleet.html", "fleet/catalogs/winnow-example/index.html", "fleet/catalogs/winnow-example/applications/argocd.html",
		"fleet/catalogs/operators/applications/courier.html", "hostile/catalogs/hostile/applications/hostile.html", "hostile/index.html",
	} {
		for _, dark := range []bool{false, true} {
			for _, width := range []int64{1280, 390} {
				t.Run(fmt.Sprintf("%s, dark %t, %d wide", file, dark, width), func(t *testing.T) {
					ctx, w := open(t, browser)
					run(t, ctx, viewport(width, 900, dark), chromedp.Navigate(addressOf(t, file)), chromedp.Evaluate(string(library), nil))
					var found string
					run(t, ctx, chromedp.Evaluate(`axe.run(document, {resultTypes: ['violations'], preload: false}).then((result) => JSON.stringify(result.violations))`, &found, awaitPromise))
					var all []violation
					if err := json.Unmarshal([]byte(found), &all); err != nil {
						t.Fatal(err)
					}
					for _, v := range all {
						for _, node := range v.Nodes {
							t.Errorf("%s (%s): %s: %s\n%s", v.ID, v.Impact, v.Help, node.HTML, node.FailureSummary)
						}
					}
					if got := value[int](t, ctx, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); got > 0 {
						t.Errorf("the page is %d pixels wider than the window", got)
					}
					w.check(t)
				})
			}
		}
	}
}

// TestPictures takes the pictures of the documentation.
func TestPictures(t *testing.T) {
	if *pictures == "" {
		t.Skip("make site-pictures runs it")
	}
	ctx, _ := open(t, browserOf(t))
	for _, picture := range []struct {
		name, file    string
		width, height int64
		dark          bool
	}{
		{"site-needs-light.png", "fleet/index.html", 1280, 1000, false},
		{"site-needs-dark.png", "fleet/index.html", 1280, 1000, true},
		{"site-catalog-dark.png", "fleet/catalogs/winnow-example/index.html", 1280, 800, true},
		{"site-fleet-light.png", "fleet/fleet.html", 1280, 760, false},
		{"site-operator-dark.png", "fleet/catalogs/operators/applications/courier.html", 1280, 1000, true},
		{"site-needs-narrow.png", "fleet/index.html", 390, 844, false},
		{"site-catalog-narrow-dark.png", "fleet/catalogs/winnow-example/index.html", 390, 844, true},
	} {
		var content []byte
		run(t, ctx, viewport(picture.width, picture.height, picture.dark), chromedp.Navigate(addressOf(t, picture.file)),
			chromedp.Evaluate(`document.querySelectorAll('time').forEach((time) => { time.textContent = time.textContent.replace(/ \(.*\)/, ''); })`, nil),
			chromedp.CaptureScreenshot(&content))
		if err := os.WriteFile(filepath.Join(*pictures, picture.name), content, 0o600); err != nil {
			t.Fatal(err)
		}
		if most := 150 << 10; len(content) > most {
			t.Errorf("%s has %d bytes, more than %d", picture.name, len(content), most)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"context"
	"flag"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

var (
	sites    = flag.String("sites", "", "the directory with the sites of test/sitedemo")
	axe      = flag.String("axe", "", "the file axe.min.js of axe-core")
	pictures = flag.String("pictures", "", "a directory that gets the pictures of the documentation")
)

// browserOf starts the browser of the machine, or skips the test.
func browserOf(t *testing.T) context.Context {
	t.Helper()
	if *sites == "" {
		t.Skip("make e2e-browser runs it")
	}
	found := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil && found == "" {
			found = path
		}
	}
	if found == "" {
		t.Skip("there is no browser: install chromium, or google-chrome, to run this test")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(found), chromedp.Flag("force-color-profile", "srgb"),
		chromedp.Flag("font-render-hinting", "none"), chromedp.WSURLReadTimeout(2*time.Minute))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	allocator, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	if err := chromedp.Run(ctx); err != nil {
		t.Fatal(err)
	}
	return ctx
}

// watched is what a page did.
type watched struct {
	mu       sync.Mutex
	problems []string
	requests []string
}

// open opens a tab, which fails the test if a page of it throws, logs an error, or requests what is no file of the site.
func open(t *testing.T, browser context.Context) (context.Context, *watched) {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	ctx, stop := context.WithTimeout(ctx, 3*time.Minute)
	t.Cleanup(stop)
	w := &watched{}
	chromedp.ListenTarget(ctx, func(event any) {
		w.mu.Lock()
		defer w.mu.Unlock()
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			w.problems = append(w.problems, "thrown: "+e.ExceptionDetails.Error())
		case *network.EventLoadingFailed:
			w.problems = append(w.problems, "not loaded: "+e.ErrorText+" "+string(e.BlockedReason))
		case *page.EventJavascriptDialogOpening:
			w.problems = append(w.problems, "a dialog: "+e.Message)
		case *network.EventRequestWillBeSent:
			w.requests = append(w.requests, e.Request.URL)
		}
	})
	run(t, ctx, network.Enable(), page.Enable(), runtime.Enable())
	return ctx, w
}

func run(t *testing.T, ctx context.Context, actions ...chromedp.Action) {
	t.Helper()
	if err := chromedp.Run(ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// addressOf returns the address of a file of a site.
func addressOf(t *testing.T, file string) string {
	t.Helper()
	full, err := filepath.Abs(filepath.Join(*sites, filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(full)}).String()
}

// check fails the test for what a page did that it should not.
func (w *watched) check(t *testing.T) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, problem := range w.problems {
		t.Error(problem)
	}
	for _, request := range w.requests {
		if !strings.HasPrefix(request, addressOf(t, "")+"/") {
			t.Errorf("the page requests %s", request)
		}
	}
}

// value evaluates an expression in a page.
func value[T any](t *testing.T, ctx context.Context, expression string) (result T) {
	t.Helper()
	run(t, ctx, chromedp.Evaluate(expression, &result))
	return result
}

// viewport is the size of a window, and whether the reader prefers dark colours.
func viewport(width, height int64, dark bool) chromedp.Action {
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	return chromedp.Tasks{
		emulation.SetDeviceMetricsOverride(width, height, 1, false),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}),
	}
}

// pagesOf returns all pages of a site, relative to the directory of the sites.
func pagesOf(t *testing.T, site string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(*sites, site), func(name string, entry os.DirEntry, err error) error {
		if err == nil && filepath.Ext(name) == ".html" {
			relative, _ := filepath.Rel(*sites, name) // both are below the same directory
			all = append(all, filepath.ToSlash(relative))
		}
		return err
	})
	if err != nil || len(all) == 0 {
		t.Fatalf("%s has %d pages: %v", site, len(all), err)
	}
	return all
}

// awaitPromise returns what a promise is fulfilled with.
func awaitPromise(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }

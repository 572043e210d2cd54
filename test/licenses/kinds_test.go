// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	mit = "The MIT License\n\nPermission is hereby granted, free of\ncharge, to any person obtaining a copy of this software"
	bsd = "Redistribution and use in source and binary forms, with or without"
	mpl = "Mozilla Public License, version 2.0\n\"Secondary License\" means the GNU General Public License, Version 2.0"
	gpl = "GNU GENERAL PUBLIC LICENSE\n   Version 3, 29 June 2007"
)

func TestKindsOfTexts(t *testing.T) {
	for text, want := range map[string][]string{
		"Apache License\nVersion 2.0, January 2004": {"Apache-2.0"},
		mit: {"MIT"},
		bsd: {"BSD-2-Clause"},
		bsd + " to endorse or promote products\nderived from this software": {"BSD-3-Clause"},
		mpl:               {"MPL-2.0"},
		mit + "\n" + bsd:  {"BSD-2-Clause", "MIT"},
		gpl:               nil,
		mit + "\n" + gpl:  nil,
		"Business Source": nil,
	} {
		if got := kindsOf(text); !slices.Equal(got, want) {
			t.Errorf("%q is %v, want %v", text, got, want)
		}
	}
}

func TestPackagesNeedAllowedLicenses(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		kinds []string
		fails string
	}{
		"the licence of the module":        {files: map[string]string{"LICENSE.txt": mit}, kinds: []string{"MIT"}},
		"one of the package as well":       {files: map[string]string{"LICENSE": mit, "pkg/LICENSE-APACHE": bsd}, kinds: []string{"BSD-2-Clause", "MIT"}},
		"one of documentation beside it":   {files: map[string]string{"LICENSE": mit, "LICENSE.docs": "CC-BY-SA"}, kinds: []string{"MIT"}},
		"none":                             {files: map[string]string{"README.md": mit}, fails: "no licence"},
		"a refused one":                    {files: map[string]string{"COPYING": gpl}, fails: "not allowed"},
		"a refused one of the package":     {files: map[string]string{"LICENSE": mit, "pkg/COPYING": gpl}, fails: "not allowed"},
		"one of a package that none needs": {files: map[string]string{"LICENSE": mit, "other/COPYING": gpl}, kinds: []string{"MIT"}},
	} {
		t.Run(name, func(t *testing.T) {
			module := t.TempDir()
			for _, dir := range []string{"pkg", "other"} {
				if err := os.Mkdir(filepath.Join(module, dir), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			for file, text := range c.files {
				if err := os.WriteFile(filepath.Join(module, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			kinds, err := licensesOf(filepath.Join(module, "pkg"), module)
			slices.Sort(kinds)
			if !slices.Equal(kinds, c.kinds) || (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
				t.Errorf("kinds %v, error %v", kinds, err)
			}
		})
	}
}

// SPDX-License-Identifier: Apache-2.0

package filebased

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

func TestAbout(t *testing.T) {
	const graph = "---\nschema: olm.channel\npackage: p\nname: a\nentries: [{name: p.v1}]\n---\nschema: olm.channel\npackage: p\nname: b\nentries: [{name: p.v2}]\n"
	bundle := func(name, version, property string) string {
		return "---\nschema: olm.bundle\npackage: p\nname: " + name + "\nimage: x\nproperties:\n- {type: olm.package, value: {packageName: p, version: " + version + "}}\n- " + property + "\n"
	}
	const metadata = "{type: olm.csv.metadata, value: {displayName: P, description: of the bundle, keywords: [k, l], labels: {a: b}, " +
		"maintainers: [{name: Ada, email: ada@example.com}, {name: Bob}, {email: c@example.com}, {}], provider: {name: Example, url: x}}}"
	const csv = `{"kind": "ClusterServiceVersion", "metadata": {"labels": {"a": "b"}}, "spec": {"displayName": "P", "icon": [{"base64data": "eA==", "mediatype": "image/png"}]}}`
	const fromMetadata = `"DisplayName":"P","Description":"of the bundle","Maintainers":["Ada \u003cada@example.com\u003e","Bob","\u003cc@example.com\u003e"],` +
		`"Provider":"Example","Keywords":["k","l"],"Icon":false,"Labels":{"a":"b"}`
	const nothing = `"DisplayName":"","Description":"","Maintainers":null,"Provider":"","Keywords":null,"Icon":false,"Labels":null`
	for _, test := range []struct{ name, own, property, want string }{
		{"of the head of the default channel", "", metadata, fromMetadata},
		{
			"its own description is worth more, and its icon is known", ", description: own, icon: {base64data: eA==, mediatype: image/png}", metadata,
			strings.NewReplacer("of the bundle", "own", "false", "true").Replace(fromMetadata),
		},
		{"an icon without data is none", ", icon: {mediatype: image/png}", "{type: olm.csv.metadata, value: {}}", nothing},
		{"of a manifest", "", manifest(csv), strings.NewReplacer(`"DisplayName":""`, `"DisplayName":"P"`, "false", "true", `"Labels":null`, `"Labels":{"a":"b"}`).Replace(nothing)},
		{"of a manifest with other types", "", manifest(strings.Replace(csv, `"P"`, "5", 1)), strings.NewReplacer("false", "true", `"Labels":null`, `"Labels":{"a":"b"}`).Replace(nothing)},
		{"of nothing", "", "{type: x, value: null}", nothing},
		{"of null", "", "{type: olm.csv.metadata, value: null}", nothing},
	} {
		t.Run(test.name, func(t *testing.T) {
			other := bundle("p.v2", "2.0.0", strings.ReplaceAll(metadata, "displayName: P", "displayName: other"))
			text := "{schema: olm.package, name: p, defaultChannel: a" + test.own + "}\n" + graph + bundle("p.v1", "1.0.0", test.property) + other
			loaded, err := Load(t.Context(), fstest.MapFS{"p.yaml": {Data: []byte(text)}})
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(loaded.Packages[0].About())
			if want := "{" + test.want + "}"; err != nil || string(got) != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

func TestAboutTheSample(t *testing.T) {
	loaded, err := Load(t.Context(), os.DirFS("testdata/orchard"))
	if err != nil {
		t.Fatal(err)
	}
	about := named(t, loaded, "lemon").About()
	if about.DisplayName != "Lemon" || about.Description != "Grows lemons." || !about.Icon || len(about.Maintainers) != 1 {
		t.Errorf("got %+v", about)
	}
}

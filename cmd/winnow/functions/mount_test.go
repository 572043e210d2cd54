// SPDX-License-Identifier: Apache-2.0

package functions

import (
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/render/krmfunctions"
)

func loadText(t *testing.T, text string) *krmfunctions.Catalog {
	t.Helper()
	loaded, err := krmfunctions.LoadFile(t.Context(), fstest.MapFS{"c.yaml": {Data: []byte(text)}}, "c.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

func TestMounts(t *testing.T) {
	for text, want := range map[string]bool{
		"type=bind,src=./a,dst=/b": true, "type=bind,source=a,target=/b,rw=true": true,
		"": false, "type=bind": false, "type=bind,src=a b,dst=/c": false, "type=bind,src=$(a),dst=/b": false, "--x=a,b=c": false,
		"type=bind,src=a,dst=/b\n": false, "type=bind,src='a',dst=/b": false,
	} {
		if got := IsMount(text); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package holders

import (
	"encoding/base64"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
	"github.com/winnow-dev/winnow/controllers/cluster/inventory"
	"github.com/winnow-dev/winnow/controllers/cluster/live"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// A claim that the API server refuses would fail with each attempt, and would not say what to do.
func TestMoreObjectsThanAClaimHasRoomForAreRefused(t *testing.T) {
	keys := inventory.Keys{}
	for i := range maxKeys {
		keys[safeguard.KeyOf("apps.kubermatic.k8c.io", "ApplicationDefinition", "", strconv.Itoa(i))] = true
	}
	local := consumers.Consumers{Known: true, Items: []consumers.Consumer{{}}}
	full := &Position{claimed: keys, state: &live.State{Consumers: local}}
	if err := full.fits(); err != nil {
		t.Error(err)
	}
	crd, err := os.ReadFile("../../../config/crd/bases/catalog.winnow.dev_catalogselections.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if n := base64.StdEncoding.EncodedLen(len(Pack(keys))); !strings.Contains(string(crd), "maxLength: "+strconv.Itoa(n)+"\n") {
		t.Errorf("the largest claim has %d bytes, and no field of the API is for as many", n)
	}

	keys[safeguard.KeyOf("apps.kubermatic.k8c.io", "ApplicationDefinition", "", "another")] = true
	if err := full.fits(); err == nil || !strings.Contains(err.Error(), "split it into several") {
		t.Errorf("%v", err)
	}
	if elsewhere := (&Position{claimed: keys, state: &live.State{}}); elsewhere.fits() != nil {
		t.Errorf("a selection that claims nothing: %v", elsewhere.fits())
	}
}

// SPDX-License-Identifier: Apache-2.0

package fleet_test

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/oci"
	"github.com/winnow-dev/winnow/cmd/winnow/receipt"
	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/registry"
	"github.com/winnow-dev/winnow/test/clitest/receipttest"
	"github.com/winnow-dev/winnow/test/stack"
)

// The receipts of 400 clusters, each with 100 definitions and 300 uses, in the registry of the local system.
func BenchmarkFleet(b *testing.B) {
	uses := receipttest.UsesOf(300)
	s, err := stack.Start(b.Context(), stack.Options{Registry: true, Progress: os.Stderr})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Stop() })
	var names []string
	for i := range 400 {
		names = append(names, fmt.Sprintf("c%03d", i))
	}
	f := receipttest.NewStage(b, names...)
	for _, name := range names {
		reference, err := oci.ParseReference("oci://" + s.RegistryHost() + "/receipts/" + name)
		if err != nil {
			b.Fatal(err)
		}
		repository, err := oci.Connect(reference, oci.Access{PlainHTTP: func(string) bool { return true }}, nil)
		if err != nil {
			b.Fatal(err)
		}
		packed, err := registry.Pack(receipt.ArtifactType, registry.NewBlob(receipt.LayerType, f.Sign(name, name, 0, func(r *receipt.Receipt) {
			r.Definitions = slices.Repeat(r.Definitions, 100)
			r.Uses = uses
		})), nil)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := repository.Push(b.Context(), packed, []string{oci.Latest}, nil, nil); err != nil {
			b.Fatal(err)
		}
	}
	f.Host = s.RegistryHost()
	for b.Loop() {
		if got := listed(f, "--fail-on", "any"); got.Code != root.ExitOK {
			b.Fatalf("%+v", got)
		}
	}
}

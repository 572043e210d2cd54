// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/oci"
	"github.com/winnow-dev/winnow/cmd/winnow/receipt"
	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/registry"
	"github.com/winnow-dev/winnow/test/clitest"
	"github.com/winnow-dev/winnow/test/stack"
)

// The receipts of 400 clusters, each with 100 definitions and 300 uses, in the registry of the local system.
func BenchmarkFleet(b *testing.B) {
	uses := usesOf(300)
	s, err := stack.Start(b.Context(), stack.Options{Registry: true, Progress: os.Stderr})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Stop() })
	var names []string
	for i := range 400 {
		names = append(names, fmt.Sprintf("c%03d", i))
	}
	f := newFleetOfReceipts(b, names...)
	for _, name := range names {
		reference, err := oci.ParseReference("oci://" + s.RegistryHost() + "/receipts/" + name)
		if err != nil {
			b.Fatal(err)
		}
		repository, err := oci.Connect(reference, oci.Access{PlainHTTP: func(string) bool { return true }}, nil)
		if err != nil {
			b.Fatal(err)
		}
		packed, err := registry.Pack(receipt.ArtifactType, registry.NewBlob(receipt.LayerType, f.sign(name, name, 0, func(r *receipt.Receipt) {
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
	f.host = s.RegistryHost()
	for b.Loop() {
		if got := f.fleet("--fail-on", "any"); got.Code != root.ExitOK {
			b.Fatalf("%+v", got)
		}
	}
}

// What a review of the hub costs with the receipts of 400 clusters, each with 300 uses, and without.
func BenchmarkUses(b *testing.B) {
	f := newFleetOfUses(b, 400)
	uses := usesOf(300)
	size := 0
	for name := range f.private {
		envelope := f.sign(name, name, 0, func(r *receipt.Receipt) { r.Uses = uses })
		f.publish(name, envelope)
		size = len(envelope)
	}
	for name, args := range map[string][]string{"with": {"--receipts", "oci://" + f.host + "/receipts", "--fail-on", "used"}, "without": nil} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if got := clitest.Execute(b.Context(), append([]string{"diff", "--git", "HEAD~1..HEAD", "--plain-http"}, args...)...); got.Code != root.ExitOK {
					b.Fatalf("%+v", got)
				}
			}
			b.ReportMetric(float64(size), "B/receipt")
		})
	}
}

func usesOf(n int) []receipt.Uses {
	var all []receipt.Use
	for i := range n {
		all = append(all, receipt.Use{Application: fmt.Sprintf("application-%03d", i/3), Version: fmt.Sprintf("1.%d.0", i%3), Installations: 1 + i%20})
	}
	return []receipt.Uses{{Kind: "HelmRelease"}, {Kind: "ApplicationInstallation", Applications: all}}
}

// SPDX-License-Identifier: Apache-2.0

package clitest

import (
	"context"
	"os"

	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"github.com/rogpeppe/go-internal/testscript"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/registry"
)

// rendered VARIABLE REPOSITORY TAG ARCHIVE pushes the archive of winnow render as the controller does, and sets the variable
// to the digest.
func rendered(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: rendered VARIABLE REPOSITORY TAG ARCHIVE")
	}
	content, err := os.ReadFile(ts.MkAbs(args[3]))
	ts.Check(err)
	digest, err := PushRendered(context.Background(), ts.Getenv("REGISTRY"), args[1], args[2], content)
	ts.Check(err)
	ts.Setenv(args[0], digest)
}

// PushRendered pushes an archive as the controller does, and returns the digest of the artifact.
func PushRendered(ctx context.Context, host, name, tag string, archive []byte) (digest string, err error) {
	to, err := remote.NewRepository(host + "/" + name)
	if err != nil {
		return "", err
	}
	to.PlainHTTP = true
	artifact, err := registry.Pack(v1alpha1.RenderedArtifactType, registry.NewBlob(v1.MediaTypeImageLayerGzip, archive), nil)
	if err != nil {
		return "", err
	}
	return artifact.Manifest.Descriptor.Digest.String(), registry.Pusher{}.Push(ctx, to, artifact, []string{tag})
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"testing/fstest"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/contract"
)

// host is the registry of the examples. No connection goes to it: the proxy of this process answers.
const host = "registry.example.com"

// serve makes this process reach a registry in memory as host, without TLS, and pushes catalogs to it by their tags.
func serve(ctx context.Context, catalogs map[string]map[string]string) (stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server := &http.Server{Handler: registry.New(registry.Logger(log.New(io.Discard, "", 0))), ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }() // until it is closed
	if err := os.Setenv("HTTP_PROXY", "http://"+listener.Addr().String()); err != nil {
		return nil, err
	}
	for tag, files := range catalogs {
		if err := push(ctx, tag, files); err != nil {
			return nil, err
		}
	}
	return func() { _ = server.Close() }, nil
}

func push(ctx context.Context, tag string, files map[string]string) error {
	contents := fstest.MapFS{}
	for path, content := range files {
		contents[path] = &fstest.MapFile{Data: []byte(content)}
	}
	read, err := archive.ReadFS(ctx, contents, archive.Limits{})
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	if err := archive.Write(&packed, read); err != nil {
		return err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), contract.FluxConfigMediaType)
	image, err = mutate.AppendLayers(image, static.NewLayer(packed.Bytes(), contract.FluxLayerMediaType))
	if err != nil {
		return err
	}
	reference, err := name.NewTag(host+"/catalogs/winnow-example:"+tag, name.Insecure)
	if err != nil {
		return err
	}
	return remote.Write(reference, image, remote.WithContext(ctx), remote.WithTransport(&http.Transport{Proxy: http.ProxyFromEnvironment}))
}

// SPDX-License-Identifier: Apache-2.0

//go:build node

package node_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/stack"
)

// system is the one system of all tests, which run one after the other.
var system *stack.Stack

// network is the bridge of the pods. It enforces no policies.
const network = `{"cniVersion": "0.4.0", "name": "pods", "plugins": [{
	"type": "bridge", "bridge": "cni0", "isGateway": true, "hairpinMode": true,
	"ipam": {"type": "host-local", "ranges": [[{
		"subnet": "10.244.0.0/24", "rangeStart": "10.244.0.10", "gateway": "` + address + `"
	}]], "routes": [{"dst": "0.0.0.0/0"}]}
}]}`

// Images of the pods.
const (
	winnowImage    = "registry.example.com/winnow-controller"
	kustomizeImage = "registry.example.com/" + stack.KustomizeController
	pauseImage     = "registry.example.com/pause"
	imageTag       = "node"
)

// run starts the system and runs the tests. The end of the namespaces stops it.
func run(m *testing.M) int {
	ctx := context.Background()
	dir := os.Getenv(insideVariable)
	s, err := start(ctx, dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e-node:", err)
		return 1
	}
	system = s
	code := m.Run()
	if code != 0 {
		printLogs(filepath.Join(dir, "stack", "logs"))
	}
	return code
}

func start(ctx context.Context, dir string) (*stack.Stack, error) {
	s, err := stack.Start(ctx, stack.Options{
		Dir: filepath.Join(dir, "stack"), Progress: os.Stderr, NodeAddress: address,
		Registry: true, SourceController: true, CRDs: []string{"test/stack/crds"},
		AddToScheme: []func(*runtime.Scheme) error{v1alpha1.AddToScheme},
	})
	if err != nil {
		return nil, err
	}
	images, err := pack(ctx, dir)
	if err != nil {
		return s, err
	}
	return s, s.StartNode(ctx, stack.NodeOptions{
		Cgroup: "/" + filepath.Base(dir), Network: network, Plugins: plugins(), Images: images, Pause: pauseImage + ":" + imageTag,
	})
}

// pack writes the archives of the images.
func pack(ctx context.Context, dir string) (map[string]string, error) {
	controller, err := stack.KustomizeControllerBinary(ctx, os.Stderr)
	if err != nil {
		return nil, err
	}
	images := map[string]string{winnowImage: filepath.Join(dir, "winnow.tar")}
	if err := packLayout(filepath.Join(*artifacts, "image"), images[winnowImage]); err != nil {
		return nil, err
	}
	for image, program := range map[string]string{kustomizeImage: controller, pauseImage: filepath.Join(*artifacts, "pause")} {
		images[image] = filepath.Join(dir, filepath.Base(image)+".tar")
		if err := packProgram(program, image+":"+imageTag, images[image]); err != nil {
			return nil, err
		}
	}
	return images, nil
}

// printLogs prints the end of each log: of the servers, and of the containers.
func printLogs(servers string) {
	for _, pattern := range []string{filepath.Join(servers, "*.log"), "/var/log/pods/*/*/*.log"} {
		files, _ := filepath.Glob(pattern)
		for _, file := range files {
			out, _ := exec.Command("tail", "-n", "15", file).CombinedOutput()
			fmt.Fprintf(os.Stderr, "==> %s\n%s\n", file, out)
		}
	}
}

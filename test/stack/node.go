// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Names of what runs pods, besides the servers of every stack. Containerd is the one of the machine.
const (
	Containerd        = "containerd"
	Kubelet           = "kubelet"
	KubeProxy         = "kube-proxy"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	DNS               = "dns"
)

// NodeName is the name of the node.
const NodeName = "node"

// nodeServers returns the builds of what runs pods.
func nodeServers() []server {
	servers := []server{{
		name: DNS, module: "dns", pkg: modulePath + "/test/tools/dns", versionOf: "github.com/coredns/coredns", minutes: 1,
	}}
	for _, name := range []string{Kubelet, KubeProxy, ControllerManager, Scheduler} {
		servers = append(servers, server{
			name: name, module: serversModule, pins: "apiserver", pkg: "k8s.io/kubernetes/cmd/" + name,
			versionOf: "k8s.io/kubernetes", versionVars: []string{"k8s.io/component-base/version.gitVersion"}, minutes: 1,
		})
	}
	return servers
}

// BuildNode builds what runs pods and is missing, and reports progress on out. Only StartNode needs it.
func BuildNode(ctx context.Context, out io.Writer) error {
	b, err := toolBuilder(ctx, out)
	if err != nil {
		return err
	}
	_, err = b.binaries(ctx, nodeServers())
	return err
}

// NodeOptions configure StartNode. All are required.
type NodeOptions struct {
	Cgroup  string            // path, in each hierarchy, below which pods run
	Network string            // configuration of the bridge of pods, as CNI has it
	Plugins string            // directory of the plugins of CNI
	Images  map[string]string // archives, by the name that their images get
	Pause   string            // image of the sandbox of a pod
}

// StartNode starts a node of this machine, with what schedules its pods, and returns when it is Ready. It needs root, and
// namespaces whose end ends what containerd leaves.
func (s *Stack) StartNode(ctx context.Context, o NodeOptions) error {
	b, err := newBuilder(s.root, s.progress)
	if err != nil {
		return err
	}
	paths, err := b.binaries(ctx, nodeServers())
	if err != nil {
		return err
	}
	if paths[Containerd], err = exec.LookPath(Containerd); err != nil {
		return fmt.Errorf("starting a node: %w", err)
	}
	if err := s.startContainerd(ctx, paths[Containerd], o); err != nil {
		return err
	}
	for _, start := range []nodeProcess{
		{ControllerManager, s.controllerManager}, {Scheduler, s.scheduler}, {DNS, s.dns}, {KubeProxy, s.kubeProxy}, {Kubelet, s.kubelet},
	} {
		s.progress.step("starting %s", start.name)
		home := filepath.Join(s.dir, start.name)
		if err := os.MkdirAll(home, 0o755); err != nil {
			return err
		}
		_, err := s.launch(ctx, command{name: start.name, path: paths[start.name], dir: home}, func() (launch, error) {
			return start.configure(home, o)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// nodeProcess is a process that runs pods.
type nodeProcess struct {
	name      string
	configure func(home string, o NodeOptions) (launch, error)
}

const (
	containerdSocket = "/run/containerd/containerd.sock"
	containerdConfig = `version = 2
root = %q
state = "/run/containerd"
[grpc]
address = "` + containerdSocket + `"
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = %q
restrict_oom_score_adj = true
netns_mounts_under_state_dir = true
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = %q
conf_dir = %q
[plugins."io.containerd.grpc.v1.cri".containerd]
snapshotter = "overlayfs"
default_runtime_name = "runc"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
SystemdCgroup = false
`
)

// startContainerd starts containerd and imports the images.
func (s *Stack) startContainerd(ctx context.Context, path string, o NodeOptions) error {
	s.progress.step("starting %s", Containerd)
	home := filepath.Join(s.dir, Containerd)
	config, networks := filepath.Join(home, "config.toml"), filepath.Join(home, "cni")
	err := errors.Join(
		os.MkdirAll(networks, 0o750),
		os.WriteFile(filepath.Join(networks, "10-pods.conflist"), []byte(o.Network), 0o600),
		os.WriteFile(config, fmt.Appendf(nil, containerdConfig, filepath.Join(home, "root"), o.Pause, o.Plugins, networks), 0o600),
	)
	if err != nil {
		return err
	}
	c := command{name: Containerd, path: path, dir: home}
	if _, err := s.launch(ctx, c, func() (launch, error) {
		return launch{args: []string{"--config", config}, ready: func(ctx context.Context) error { return ctr(ctx, "version") }}, nil
	}); err != nil {
		return err
	}
	for name, archive := range o.Images {
		if err := ctr(ctx, "-n", "k8s.io", "images", "import", "--base-name", name, archive); err != nil {
			return fmt.Errorf("importing %s: %w", archive, err)
		}
	}
	return nil
}

func ctr(ctx context.Context, args ...string) error {
	out, err := exec.CommandContext(ctx, "ctr", append([]string{"--address", containerdSocket}, args...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// started is the check of a process whose readiness shows in what it does.
func started(context.Context) error { return nil }

func (s *Stack) controllerManager(string, NodeOptions) (launch, error) {
	home := filepath.Join(s.dir, APIServer)
	return launch{ready: started, args: []string{
		"--kubeconfig=" + s.kubeconfig, "--leader-elect=false", "--secure-port=0",
		"--service-account-private-key-file=" + filepath.Join(home, signingKeyFile),
		"--root-ca-file=" + filepath.Join(home, certificateFile),
	}}, nil
}

func (s *Stack) scheduler(string, NodeOptions) (launch, error) {
	return launch{ready: started, args: []string{"--kubeconfig=" + s.kubeconfig, "--leader-elect=false", "--secure-port=0"}}, nil
}

// dns serves the names of services at port 53.
func (s *Stack) dns(home string, _ NodeOptions) (launch, error) {
	config := filepath.Join(home, "Corefile")
	content := fmt.Sprintf(".:53 {\n errors\n kubernetes cluster.local {\n  kubeconfig %s stack\n }\n}\n", s.kubeconfig)
	return launch{args: []string{"-conf", config}, ready: started}, os.WriteFile(config, []byte(content), 0o600)
}

func (s *Stack) kubeProxy(string, NodeOptions) (launch, error) {
	addresses, err := freeAddresses(2)
	if err != nil {
		return launch{}, err
	}
	health, metrics := addresses[0], addresses[1]
	return launch{ready: answers(http.DefaultClient, "http://"+health+"/livez"), args: []string{
		"--kubeconfig=" + s.kubeconfig, "--hostname-override=" + NodeName, "--proxy-mode=iptables",
		"--masquerade-all", // pods of one bridge answer each other directly
		"--healthz-bind-address=" + health, "--metrics-bind-address=" + metrics,
		// Settings of the machine, which a namespace may not change.
		"--conntrack-max-per-core=0", "--conntrack-tcp-timeout-established=0", "--conntrack-tcp-timeout-close-wait=0",
	}}, nil
}

const kubeletConfig = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: %[1]s
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
healthzBindAddress: %[2]s
healthzPort: %[3]s
failCgroupV1: false
failSwapOn: false
cgroupDriver: cgroupfs
cgroupRoot: %[4]s
enforceNodeAllocatable: []
containerRuntimeEndpoint: unix://` + containerdSocket + `
clusterDNS: [%[5]s]
clusterDomain: cluster.local
resolvConf: %[6]s
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
evictionHard: {memory.available: 1Mi, nodefs.available: 1Mi, nodefs.inodesFree: 1%%, imagefs.available: 1Mi}
`

func (s *Stack) kubelet(home string, o NodeOptions) (launch, error) {
	health, err := freeAddress()
	if err != nil {
		return launch{}, err
	}
	host, port, _ := strings.Cut(health, ":")
	config, resolver := filepath.Join(home, "config.yaml"), filepath.Join(home, "resolv.conf")
	err = errors.Join(
		os.WriteFile(config, fmt.Appendf(nil, kubeletConfig, s.host(), host, port, o.Cgroup, s.host(), resolver), 0o600),
		os.WriteFile(resolver, []byte("nameserver "+s.host()+"\n"), 0o600),
	)
	return launch{ready: s.nodeReady, args: []string{
		"--config=" + config, "--kubeconfig=" + s.kubeconfig, "--root-dir=" + filepath.Join(home, "root"),
		"--hostname-override=" + NodeName, "--node-ip=" + s.host(),
	}}, err
}

func (s *Stack) nodeReady(ctx context.Context) error {
	node := &corev1.Node{}
	if err := s.client.Get(ctx, client.ObjectKey{Name: NodeName}, node); err != nil {
		return err
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
			return nil
		}
	}
	return fmt.Errorf("node %s is not Ready", NodeName)
}

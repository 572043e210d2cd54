// SPDX-License-Identifier: Apache-2.0

//go:build node

package node_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// artifacts is the directory with what make e2e-node builds.
var artifacts = flag.String("artifacts", "", "directory with image, install.yaml and pause")

// insideVariable is set in the namespaces of the node, and has their directory.
const insideVariable = "WINNOW_NODE_DIR"

// address is the node's, on the bridge of its pods.
const address = "10.244.0.1"

// enter makes the namespaces a machine: what is written to /run, /var/lib and /var/log stays in them.
const enter = `
ip link set lo up
ip link add cni0 type bridge
ip address add ` + address + `/24 dev cni0
ip link set cni0 up
ip route add 10.0.0.0/24 dev cni0 # services
echo 1 >/proc/sys/net/ipv4/ip_forward
mount -t tmpfs run /run
mount -t tmpfs log /var/log
mkdir -p "$WINNOW_NODE_DIR/lib" "$WINNOW_NODE_DIR/work"
mount -t overlay lib -o "lowerdir=/var/lib,upperdir=$WINNOW_NODE_DIR/lib,workdir=$WINNOW_NODE_DIR/work" /var/lib
"$0" "$@" || exit $?
`

// TestMain runs the tests in namespaces of their own: mounts, network, processes, host name and IPC. Their end ends all that
// was started in them. This process then removes what outlives them: cgroups, files, and the settings of the kernel that
// the kubelet changes.
func TestMain(m *testing.M) {
	flag.Parse()
	if os.Getenv(insideVariable) != "" {
		os.Exit(run(m))
	}
	if missing := missing(); len(missing) > 0 {
		fmt.Fprintln(os.Stderr, "e2e-node needs root on Linux, and these programs, which are missing:", strings.Join(missing, ", "))
		os.Exit(2)
	}
	code, err := isolate()
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e-node:", err)
		code = 1
	}
	os.Exit(code)
}

// missing lists what the machine lacks.
func missing() (missing []string) {
	for _, program := range []string{"containerd", "ctr", "runc", "iptables", "ip", "unshare"} {
		if _, err := exec.LookPath(program); err != nil {
			missing = append(missing, program)
		}
	}
	if plugins() == "" {
		missing = append(missing, "the plugins of CNI")
	}
	if os.Geteuid() != 0 {
		missing = append(missing, "root")
	}
	return missing
}

// plugins returns the directory of CNI's plugins: Debian's, or the one of other packages.
func plugins() string {
	for _, dir := range []string{"/usr/lib/cni", "/opt/cni/bin"} {
		if _, err := os.Stat(filepath.Join(dir, "bridge")); err == nil {
			return dir
		}
	}
	return ""
}

// isolate runs this program once more, in namespaces, and returns its exit code.
func isolate() (code int, err error) {
	dir, err := os.MkdirTemp("", "winnow-node-")
	if err != nil {
		return 0, err
	}
	settings, err := kernelSettings()
	if err != nil {
		return 0, err
	}
	cgroups, err := makeCgroups(filepath.Base(dir))
	args := slices.Concat([]string{
		"--mount", "--net", "--pid", "--uts", "--ipc", "--fork", "--kill-child", "--mount-proc", "sh", "-euc", enter, os.Args[0],
	}, os.Args[1:])
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cmd := exec.CommandContext(ctx, "unshare", args...)
	cmd.Env = append(os.Environ(), insideVariable+"="+dir)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err == nil {
		err = cmd.Run()
	}
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		code, err = failed.ExitCode(), nil
	}
	return code, errors.Join(err, removeCgroups(cgroups), restore(settings), os.RemoveAll(dir))
}

// hierarchies returns the directories of the hierarchies of cgroups: several of version 1, or one of version 2.
func hierarchies() (dirs []string, err error) {
	mounts, err := os.ReadFile("/proc/mounts")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(mounts)) {
		if fields := strings.Fields(line); len(fields) > 2 && strings.HasPrefix(fields[2], "cgroup") {
			dirs = append(dirs, fields[1])
		}
	}
	return dirs, nil
}

// makeCgroups makes the cgroup of the pods in each hierarchy, and returns the directories.
func makeCgroups(name string) (made []string, err error) {
	dirs, err := hierarchies()
	for _, dir := range dirs {
		cgroup := filepath.Join(dir, name)
		if err := os.MkdirAll(cgroup, 0o755); err != nil {
			return made, err
		}
		made = append(made, cgroup)
		for _, file := range []string{"cpuset.cpus", "cpuset.mems"} { // a new cgroup of version 1 has none
			content, err := os.ReadFile(filepath.Join(dir, file))
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err = errors.Join(err, os.WriteFile(filepath.Join(cgroup, file), content, 0o644)); err != nil {
				return made, err
			}
		}
	}
	return made, err
}

// removeCgroups removes cgroups and those below. After an interrupt, their last processes are still ending.
func removeCgroups(cgroups []string) error {
	var last error
	_ = wait.PollUntilContextTimeout(context.Background(), 100*time.Millisecond, 30*time.Second, true, func(context.Context) (bool, error) {
		last = nil
		for _, cgroup := range cgroups {
			last = errors.Join(last, removeCgroup(cgroup))
		}
		return last == nil, nil
	})
	return last
}

// removeCgroup removes a cgroup and those below, unless it is gone.
func removeCgroup(cgroup string) error {
	var below []string
	err := filepath.WalkDir(cgroup, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			below = append(below, path)
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, dir := range slices.Backward(below) {
		err = errors.Join(err, syscall.Rmdir(dir))
	}
	return err
}

// kernelSettings returns the settings that the kubelet changes, for the whole machine.
func kernelSettings() (map[string][]byte, error) {
	settings := map[string][]byte{}
	for _, name := range []string{
		"vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic", "kernel/panic_on_oops",
		"kernel/keys/root_maxkeys", "kernel/keys/root_maxbytes",
	} {
		path := filepath.Join("/proc/sys", name)
		content, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if err == nil {
			settings[path] = content
		}
	}
	return settings, nil
}

func restore(settings map[string][]byte) (err error) {
	for path, content := range settings {
		if now, readErr := os.ReadFile(path); readErr == nil && !bytes.Equal(now, content) {
			err = errors.Join(err, os.WriteFile(path, content, 0o644))
		}
	}
	return err
}

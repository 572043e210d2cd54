#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Packages: github.com/fluxcd/pkg/runtime v0.110.3 (the events of Flux's controllers), sigs.k8s.io/controller-runtime v0.24.1.
#
# Expected: Recorder.Event returns at once, as the recorder of client-go does: a cluster without notification-controller loses
# notifications, and nothing else.
# Seen: Event sends to the address of --events-addr before it returns, and with the defaults tries five times with growing delays: 15 s
# for an address that refuses connections. A reconciler with one event a reconciliation holds a worker that long.
# What to do: set RetryMax of Recorder.Client, or an empty --events-addr where nothing receives events.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
cat >main.go <<'GO'
package main

import (
	"fmt"
	"net"
	"time"

	"github.com/fluxcd/pkg/runtime/events"
	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	ctrl.SetLogger(funcr.New(func(string, string) {}, funcr.Options{}))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	check(listener.Close()) // nothing listens there any more
	mgr, err := ctrl.NewManager(&rest.Config{Host: "https://127.0.0.1:1"}, ctrl.Options{
		Scheme: scheme.Scheme, Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0"})
	check(err)
	recorder, err := events.NewRecorder(mgr, ctrl.Log, "http://"+listener.Addr().String(), "example")
	check(err)
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}}
	for _, retries := range []int{recorder.Client.RetryMax, 0} {
		recorder.Client.RetryMax = retries
		started := time.Now()
		recorder.Event(object, corev1.EventTypeNormal, "Example", "a text")
		fmt.Printf("%d retries: more than 10 s: %t\n", retries, time.Since(started) > 10*time.Second)
	}
}
GO
{
  go mod init example.com/finding
  go get github.com/fluxcd/pkg/runtime@v0.110.3 sigs.k8s.io/controller-runtime@v0.24.1
  go mod tidy
} >log 2>&1 || { cat log; exit 1; }
got=$(go run . 2>log) || { cat log; exit 1; }
echo "$got"
[ "$got" = "4 retries: more than 10 s: true
0 retries: more than 10 s: false" ] || { echo "changed"; exit 1; }

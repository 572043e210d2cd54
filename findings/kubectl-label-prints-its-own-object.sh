#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Packages: k8s.io/kubectl v0.36.4 (kubectl of Kubernetes 1.36). The API server is a stand-in that adds an annotation to what it stores, as
# a mutating admission policy does.
#
# Expected: kubectl label -o yaml, also with --dry-run=server, prints the object that the API server returns, as kubectl annotate and
# kubectl patch do.
# Seen: kubectl label prints the object that it has read, with its own change: nothing that admission adds, and the resourceVersion of
# before.
# What to do: try a policy by kubectl patch --dry-run=server; after kubectl label, read the object again.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
cat >main.go <<'GO'
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/cmd"
)

func main() {
	answers := map[string]string{
		"/api":    `{"kind":"APIVersions","versions":["v1"]}`,
		"/apis":   `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`,
		"/api/v1": `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"v1","resources":[{"name":"configmaps","namespaced":true,"kind":"ConfigMap","verbs":["get","patch"]}]}`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if answer, ok := answers[r.URL.Path]; ok {
			io.WriteString(w, answer)
			return
		}
		metadata := map[string]any{"name": "a", "namespace": "default", "resourceVersion": "1"}
		if r.Method == http.MethodPatch {
			var patch struct {
				Metadata map[string]any `json:"metadata"`
			}
			if err := json.NewDecoder(r.Body).Decode(&patch); err != nil {
				panic(err)
			}
			for key, value := range patch.Metadata {
				metadata[key] = value
			}
			annotations, _ := metadata["annotations"].(map[string]any)
			if annotations == nil {
				annotations = map[string]any{}
			}
			annotations["admission"] = "seen"
			metadata["annotations"], metadata["resourceVersion"] = annotations, "2"
		}
		if err := json.NewEncoder(w).Encode(map[string]any{"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata}); err != nil {
			panic(err)
		}
	}))
	for _, args := range []string{
		"label configmap a k=v", "label configmap a k=v --dry-run=server", "annotate configmap a k=v --dry-run=server",
		`patch configmap a --type=merge --dry-run=server -p={"metadata":{"labels":{"k":"v"}}}`,
	} {
		var out strings.Builder
		command := cmd.NewKubectlCommand(cmd.KubectlOptions{
			ConfigFlags: genericclioptions.NewConfigFlags(true),
			IOStreams:   genericiooptions.IOStreams{In: os.Stdin, Out: &out, ErrOut: os.Stderr},
		})
		command.SetArgs(append(strings.Fields(args), "-o=json", "--server="+server.URL, "--cache-dir="+os.Args[1]))
		if err := command.Execute(); err != nil {
			panic(err)
		}
		var printed struct {
			Metadata struct {
				ResourceVersion string            `json:"resourceVersion"`
				Annotations     map[string]string `json:"annotations"`
			} `json:"metadata"`
		}
		if err := json.Unmarshal([]byte(out.String()), &printed); err != nil {
			panic(err)
		}
		fmt.Printf("%s: resourceVersion %s, admission %q\n", args, printed.Metadata.ResourceVersion, printed.Metadata.Annotations["admission"])
	}
}
GO
cat >go.mod <<'MOD'
module example.com/finding

go 1.26.0

require (
	k8s.io/cli-runtime v0.36.4
	k8s.io/kubectl v0.36.4
)
MOD
go mod tidy 2>/dev/null
KUBECONFIG=/dev/null go run . "$dir/cache" >got
cat >want <<'TXT'
label configmap a k=v: resourceVersion 1, admission ""
label configmap a k=v --dry-run=server: resourceVersion 1, admission ""
annotate configmap a k=v --dry-run=server: resourceVersion 2, admission "seen"
patch configmap a --type=merge --dry-run=server -p={"metadata":{"labels":{"k":"v"}}}: resourceVersion 2, admission "seen"
TXT
diff -u want got
cat got

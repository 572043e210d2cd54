#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Package: helm.sh/helm/v4 v4.2.4, the SDK of helm-controller.
#
# Expected: a PersistentVolumeClaim with the annotation helm.sh/resource-policy: keep is never deleted by Helm, and an upgrade to the
# same chart deletes nothing.
# Seen: as a hook of upgrades, the claim is deleted before each upgrade, and made anew: the default of helm.sh/hook-delete-policy is
# before-hook-creation, and what deletes hooks does not look at the annotation. With another delete policy it is not deleted.
# What to do: no hook for what holds data, or one of installations alone.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
cat >main.go <<'GO'
package main

import (
	"fmt"
	"io"
	"strings"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/kube"
	kubefake "helm.sh/helm/v4/pkg/kube/fake"
	"helm.sh/helm/v4/pkg/storage"
	"helm.sh/helm/v4/pkg/storage/driver"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// client counts the deletions of the claim. Helm builds a hook before it deletes it.
type client struct {
	kubefake.PrintingKubeClient
	built   string
	deleted int
}

func (c *client) Build(r io.Reader, _ bool) (kube.ResourceList, error) {
	content, err := io.ReadAll(r)
	c.built = string(content)
	return kube.ResourceList{}, err
}

func (c *client) Delete(kube.ResourceList, metav1.DeletionPropagation) (*kube.Result, []error) {
	if strings.Contains(c.built, "kind: PersistentVolumeClaim") {
		c.deleted++
	}
	return &kube.Result{}, nil
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	for _, policy := range []string{"", "hook-failed"} {
		claim := "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata:\n  name: data\n  annotations:\n    helm.sh/resource-policy: keep\n    helm.sh/hook: pre-install,pre-upgrade\n"
		if policy != "" {
			claim += "    helm.sh/hook-delete-policy: " + policy + "\n"
		}
		c := &client{PrintingKubeClient: kubefake.PrintingKubeClient{Out: io.Discard, LogOutput: io.Discard}}
		config := action.NewConfiguration()
		config.KubeClient, config.Releases, config.Capabilities = c, storage.Init(driver.NewMemory()), common.DefaultCapabilities
		made := &chart.Chart{
			Metadata:  &chart.Metadata{APIVersion: "v2", Name: "web", Version: "1.0.0"},
			Templates: []*common.File{{Name: "templates/claim.yaml", Data: []byte(claim)}},
		}
		install := action.NewInstall(config)
		install.ReleaseName, install.Namespace = "web", "default"
		_, err := install.Run(made, nil)
		check(err)
		c.deleted = 0
		upgrade := action.NewUpgrade(config)
		upgrade.Namespace = "default"
		_, err = upgrade.Run("web", made, nil)
		check(err)
		fmt.Printf("policy %q: deleted %d times by one upgrade\n", policy, c.deleted)
	}
}
GO
{
  go mod init example.com/finding
  go get helm.sh/helm/v4@v4.2.4
  go mod tidy -e
} >log 2>&1 || { cat log; exit 1; }
got=$(go run .)
echo "$got"
[ "$got" = 'policy "": deleted 1 times by one upgrade
policy "hook-failed": deleted 0 times by one upgrade' ] || { echo "changed"; exit 1; }

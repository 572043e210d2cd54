// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"net/http"
	"strings"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
)

// unavailable responds with 503.
func unavailable(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "not yet", http.StatusServiceUnavailable)
}

// secondSource sets the catalog of the OCIRepository "second".
func (c *liveCluster) secondSource() *meta.Artifact {
	var files []string
	for _, name := range []string{"argocd", "nginx", "falco", "new"} {
		files = append(files, "applications/"+name+"/application.yaml", strings.Replace(definition(name, ""), "apps.kubermatic.k8c.io", c.group, 1))
	}
	return c.sourceOf(sourcev1.OCIRepositoryKind, c.key("second"), catalogArchive(c.T, files...))
}

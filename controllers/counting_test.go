package controllers

import (
	"net/http"
	"strings"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
)

func nil404(w http.ResponseWriter, r *http.Request) {
	http.Error(w, "not yet", http.StatusServiceUnavailable)
}

func (c *liveCluster) source2() *meta.Artifact {
	var files []string
	for _, name := range []string{"argocd", "nginx", "falco", "new"} {
		files = append(files, "applications/"+name+"/application.yaml", strings.Replace(definition(name, ""), "apps.kubermatic.k8c.io", c.group, 1))
	}
	return c.sourceOf(sourcev1.OCIRepositoryKind, c.key("second"), catalogArchive(c.T, files...))
}

package stack

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
)

// registryConfig has a fixed secret, because a random one is worth a warning in the log.
const registryConfig = `version: 0.1
log: {level: warn, accesslog: {disabled: true}}
storage:
  filesystem: {rootdirectory: %q}
  delete: {enabled: true}
http: {addr: %q, secret: stack}
`

func (s *Stack) startRegistry(ctx context.Context) error {
	if !s.options.Registry {
		return nil
	}
	return s.startServer(ctx, Registry, func(dir string) (launch, error) {
		address, err := freeAddress()
		if err != nil {
			return launch{}, err
		}
		s.registryHost = address
		config := filepath.Join(dir, "config.yaml")
		content := fmt.Sprintf(registryConfig, filepath.Join(dir, "data"), address)
		if err := os.WriteFile(config, []byte(content), 0o600); err != nil {
			return launch{}, err
		}
		return launch{
			args:  []string{"serve", config},
			ready: answers(http.DefaultClient, "http://"+address+"/v2/"),
		}, nil
	})
}

// Command labeler is a KRM function that sets a label on every object: spec.label of its config, to spec.value.
package main

import (
	"fmt"
	"io"
	"os"

	"sigs.k8s.io/yaml"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	content, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	var list struct {
		APIVersion     string           `json:"apiVersion"`
		Kind           string           `json:"kind"`
		Items          []map[string]any `json:"items"`
		FunctionConfig struct {
			Spec struct{ Label, Value string } `json:"spec"`
		} `json:"functionConfig"`
	}
	if err := yaml.Unmarshal(content, &list); err != nil {
		return err
	}
	for _, item := range list.Items {
		metadata, _ := item["metadata"].(map[string]any)
		labels, _ := metadata["labels"].(map[string]any)
		if labels == nil {
			labels = map[string]any{}
		}
		labels[list.FunctionConfig.Spec.Label] = list.FunctionConfig.Spec.Value
		metadata["labels"] = labels
	}
	content, err = yaml.Marshal(list)
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(content)
	return err
}

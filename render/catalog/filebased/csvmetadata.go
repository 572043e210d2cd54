package filebased

import "encoding/json"

// csvMetadata is the value of olm.csv.metadata: what a ClusterServiceVersion has besides its deployments.
type csvMetadata struct {
	Annotations           map[string]string `json:"annotations"`
	APIServiceDefinitions struct {
		Owned    []apiDescription `json:"owned"`
		Required []apiDescription `json:"required"`
	} `json:"apiServiceDefinitions"`
	CustomResourceDefinitions struct {
		Owned    []crdDescription `json:"owned"`
		Required []crdDescription `json:"required"`
	} `json:"crdDescriptions"`
	Description  string `json:"description"`
	DisplayName  string `json:"displayName"`
	InstallModes []struct {
		Type      string `json:"type"`
		Supported bool   `json:"supported"`
	} `json:"installModes"`
	Keywords    []string          `json:"keywords"`
	Labels      map[string]string `json:"labels"`
	Links       []appLink         `json:"links"`
	Maintainers []struct {
		Name  string `json:"name"`
		Email string `json:"email"`
	} `json:"maintainers"`
	Maturity       string  `json:"maturity"`
	MinKubeVersion string  `json:"minKubeVersion"`
	NativeAPIs     []gvk   `json:"nativeAPIs"`
	Provider       appLink `json:"provider"`
}

type appLink struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

// descriptions is what the descriptions of APIs have in common.
type descriptions struct {
	Name        string `json:"name"`
	Version     string `json:"version"`
	Kind        string `json:"kind"`
	DisplayName string `json:"displayName"`
	Description string `json:"description"`
	Resources   []struct {
		Name    string `json:"name"`
		Kind    string `json:"kind"`
		Version string `json:"version"`
	} `json:"resources"`
	StatusDescriptors []descriptor `json:"statusDescriptors"`
	SpecDescriptors   []descriptor `json:"specDescriptors"`
	ActionDescriptors []descriptor `json:"actionDescriptors"`
}

type crdDescription struct{ descriptions }

type apiDescription struct {
	descriptions
	Group          string   `json:"group"`
	DeploymentName string   `json:"deploymentName"`
	ContainerPort  number32 `json:"containerPort"`
}

type descriptor struct {
	Path         string          `json:"path"`
	DisplayName  string          `json:"displayName"`
	Description  string          `json:"description"`
	XDescriptors []string        `json:"x-descriptors"`
	Value        json.RawMessage `json:"value"`
}

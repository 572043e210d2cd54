// SPDX-License-Identifier: Apache-2.0

package blobs

import "github.com/winnow-dev/winnow/cmd/winnow/verbs/imports/bundle"

// metadata is the value of the property that stands for the objects of a bundle.
type metadata struct {
	Annotations map[string]string  `json:"annotations,omitempty"`
	APIServices bundle.APIServices `json:"apiServiceDefinitions"`
	CRDs        bundle.CRDs        `json:"crdDescriptions"`
	Description string             `json:"description,omitempty"`
	Modes       []bundle.Mode      `json:"installModes,omitempty"`
	Labels      map[string]string  `json:"labels,omitempty"`
	bundle.About
}

func metadataOf(csv bundle.CSV) metadata {
	return metadata{
		Annotations: csv.Metadata.Annotations, Labels: csv.Metadata.Labels,
		APIServices: csv.Spec.APIServices, CRDs: csv.Spec.CRDs,
		Description: csv.Spec.Description, Modes: csv.Spec.Modes, About: csv.Spec.About,
	}
}

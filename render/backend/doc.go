// Package backend translates an instance of an application into the objects that install it: those of Flux's
// helm-controller, of KKP, of Cozystack, or of the tofu-controller.
//
// It is pure: the same instance makes the same bytes. It must not know how an application and its version
// were selected, what the objects are published with (labels, annotations, protection against pruning), nor
// what has been published before. Definitions and values are untrusted: every error names the field.
package backend

// SPDX-License-Identifier: Apache-2.0

package functions

// needs are what functions need of kustomize.
type needs struct{ function, exec, network, storage bool }

func (n *needs) add(more needs) {
	n.function = n.function || more.function
	n.exec = n.exec || more.exec
	n.network = n.network || more.network
	n.storage = n.storage || more.storage
}

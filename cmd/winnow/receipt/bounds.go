// SPDX-License-Identifier: Apache-2.0

package receipt

import "errors"

// Bounds of a receipt.
const (
	// MaxBytes bounds the envelope.
	MaxBytes = 1 << 20
	// maxPayload and the numbers of elements bound its content.
	maxPayload, maxKustomizations, maxDefinitions, maxVersions, maxObjects = 640 << 10, 200, 5_000, 20_000, 5_000
	// maxText bounds a text, in bytes.
	maxText = 512
)

// maxUses bounds the uses of a receipt with their names, maxInstallations a number, and maxNames the names of a use.
const maxUses, maxInstallations, maxNames = 2_000, 1_000_000, 100

var errTooLarge = errors.New("it is larger than a receipt may be")

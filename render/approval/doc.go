// SPDX-License-Identifier: Apache-2.0

// Package approval has the grammar of the lines that name what may leave: the entries of spec.safeguards.approve, of the
// annotation on a stage, and of the ConfigMap of a spoke's policy.
//
//	line    = subject [":" word] ["#" number]  |  "sha256:" checksum of the render ["#" number]
//	subject = app ["/" version] | "Instance/" name ["/" version] | Kind ["." group] "/" [namespace "/"] name
//	version = [A-Za-z0-9][A-Za-z0-9._+~-]* | "*"
//	word    = live | identity | source | major/N | upgrade/version | channel/version | locked ["/" path, to the end]
//
// "*" stands for any version or channel. What has another text has no other line. The name of an object may have capitals and
// colons, but neither blanks nor any of /, # and *.
//
// It must not know what a publication loses, nor which lines count.
package approval

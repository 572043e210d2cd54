// SPDX-License-Identifier: Apache-2.0

package catalog

// Content is the definition of an application that is no object of Kubernetes. No document lists its versions:
// it knows how to keep some of them. It is immutable.
type Content interface {
	// Channels returns the versions of each channel, from the highest to the lowest. A content without channels has
	// one without a name.
	Channels() []Channel
	// Keep returns the content with the versions to keep. repairs describes, for people, the other versions that have
	// to stay, or go, for the content to be valid. The error describes why keep is impossible.
	Keep(Keep) (kept Content, repairs []string, err error)
	// Files returns the files of an artifact that hold the content.
	Files() []File
	// Size is about how many bytes of memory it takes.
	Size() int64
}

// Channel of the content of an application.
type Channel struct {
	Name string
	// Versions are names of versions of the application.
	Versions []string
	// Deprecated is the message of a deprecated channel, otherwise empty.
	Deprecated string
}

// Keep states which versions of a content stay.
type Keep struct {
	// Version reports whether a channel keeps a version; nil keeps all.
	Version func(channel, version string) bool
	// DefaultChannel takes the place of the default channel, unless it is empty.
	DefaultChannel string
	// Strict makes an error of every repair.
	Strict bool
}

// File of an artifact.
type File struct {
	// Path in the artifact. Contents with one path share a file: its Head, which they have in common, then the Data of
	// each, in the order of their names.
	Path       string
	Head, Data []byte
}

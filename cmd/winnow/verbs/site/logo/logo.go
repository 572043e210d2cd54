// SPDX-License-Identifier: Apache-2.0

// Package logo accepts the pictures of catalogs that a web site may serve. It must not know catalogs, and changes no byte of
// a picture.
package logo

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// MaxBytes bounds a picture.
const MaxBytes = 256 << 10

// Logo is an accepted picture.
type Logo struct {
	// File is a name for it: the same for the same bytes.
	File string
	Data []byte
}

// Accept returns a picture if a browser that opens it runs nothing and loads nothing: a PNG, JPEG, GIF or WebP by its first
// bytes, or an SVG whose elements and attributes all are known to be harmless.
func Accept(data []byte) (*Logo, error) {
	if len(data) == 0 || len(data) > MaxBytes {
		return nil, fmt.Errorf("a logo has at most %d bytes, and this one %d", MaxBytes, len(data))
	}
	suffix := suffixOf(data)
	if suffix == "" {
		if err := checkSVG(data); err != nil {
			return nil, fmt.Errorf("a logo that is no PNG, JPEG, GIF or WebP has to be a plain SVG: %w", err)
		}
		suffix = ".svg"
	}
	sum := sha256.Sum256(data)
	return &Logo{File: hex.EncodeToString(sum[:12]) + suffix, Data: data}, nil
}

// suffixOf returns the suffix of a file with a picture of pixels; empty for other data.
func suffixOf(data []byte) string {
	switch {
	case bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")):
		return ".png"
	case bytes.HasPrefix(data, []byte("\xff\xd8\xff")):
		return ".jpg"
	case bytes.HasPrefix(data, []byte("GIF87a")), bytes.HasPrefix(data, []byte("GIF89a")):
		return ".gif"
	case len(data) > 12 && bytes.HasPrefix(data, []byte("RIFF")) && bytes.Equal(data[8:12], []byte("WEBP")):
		return ".webp"
	}
	return ""
}

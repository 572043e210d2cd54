package stack

import "context"

// InstallHelmCRDs installs the CRDs of helm-controller on a stack that was started without it.
func (s *Stack) InstallHelmCRDs(ctx context.Context) error {
	b, err := newBuilder(s.root, s.progress)
	if err != nil {
		return err
	}
	dirs, err := b.fluxCRDs(ctx, []string{helmModule})
	if err != nil {
		return err
	}
	return s.ApplyPath(ctx, dirs[0])
}

// SPDX-License-Identifier: Apache-2.0

package server

import "github.com/sampo-ai/sampo/internal/wire/openai"

// playground answers POST /api/playground/complete: a completion that may explain itself. Like all of /api it is strict.
func (s *Server) playground(x *exchange) error {
	body, err := x.body()
	if err != nil {
		return err
	}
	req, bad := openai.DecodePlayground(body)
	if bad != nil {
		return bad
	}
	if len(req.Unknown) > 0 {
		return errUnknownField(req.Unknown[0])
	}
	return s.continueText(x, req)
}

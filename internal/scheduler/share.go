// SPDX-License-Identifier: Apache-2.0

package scheduler

// outputCost is what a generated token costs a tenant, where a prompt token costs 1: it is computed in a step of its
// own, and keeps a place among the running.
const outputCost = 2

// A tenant is somebody whose sequences wait or run, or did so lately.
type tenant struct {
	name      string
	served    uint64 // cost of the service that it had
	sequences int    // that wait or run
}

// shares tells tenants apart. Who had least service is served next; who comes anew starts level with the least of
// those who compete, so nobody saves up service. When nobody competes all is forgotten.
//
// Sheng et al. 2024 (arXiv:2401.00588), virtual token counter.
type shares map[string]*tenant

// join counts one more sequence of the tenant called name.
func (s shares) join(name string) *tenant {
	t := s[name]
	if t == nil {
		t = &tenant{name: name}
		s[name] = t
	}
	if t.sequences == 0 {
		t.served = max(t.served, s.least())
	}
	t.sequences++
	return t
}

// leave counts one sequence less, and forgets tenants whose service makes no difference any more.
func (s shares) leave(t *tenant) {
	if t.sequences--; t.sequences > 0 {
		return
	}
	competing, least := false, s.least()
	for _, other := range s {
		competing = competing || other.sequences > 0
	}
	for name, other := range s {
		if other.sequences == 0 && (!competing || other.served <= least) {
			delete(s, name)
		}
	}
}

// least returns the least service among those who compete; 0 if nobody does.
func (s shares) least() uint64 {
	least, found := uint64(0), false
	for _, t := range s {
		if t.sequences > 0 && (!found || t.served < least) {
			least, found = t.served, true
		}
	}
	return least
}

// charge makes the tenant pay for the tokens before position end that it has not paid for.
func (q *Sequence) charge(end, cost int) {
	if end > q.paid {
		q.tenant.served += uint64((end - q.paid) * cost)
		q.paid = end
	}
}

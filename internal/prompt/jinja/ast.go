// SPDX-License-Identifier: Apache-2.0

package jinja

// An expr is an expression: one of the types below.
type expr any

type (
	// A nameExpr reads or writes a variable. The resolver sets at.
	nameExpr struct {
		name string
		line int
		at   place
	}
	// An attrTarget is the target ns.attr of an assignment.
	attrTarget struct {
		ns   *nameExpr
		attr string
	}
	constExpr struct{ v value }
	dataExpr  struct{ text *Str } // text outside of tags
	listExpr  struct{ items []expr }
	tupleExpr struct{ items []expr }
	dictExpr  struct{ keys, values []expr }
	unaryExpr struct {
		op string // + - not
		x  expr
	}
	binaryExpr struct {
		op   string
		x, y expr
	}
	logicExpr struct {
		or   bool
		x, y expr
	}
	compareExpr struct {
		x    expr
		ops  []string
		rest []expr
	}
	concatExpr struct{ items []expr }
	condExpr   struct{ test, then, otherwise expr } // otherwise may be nil
	attrExpr   struct {
		x    expr
		attr *Str
	}
	itemExpr  struct{ x, arg expr }
	sliceExpr struct{ start, stop, step expr } // each may be nil
	callExpr  struct {
		fn   expr
		args callArgs
	}
	filterExpr struct {
		x    expr // nil: the text of the block
		name string
		line int
		args callArgs
		fn   *builtin // nil: unknown, an error once it is reached
	}
	testExpr struct {
		x    expr
		name string
		line int
		args callArgs
		fn   *builtin
	}
)

// callArgs are the arguments of a call as written.
type callArgs struct {
	pos    []expr
	names  []string // of the keyword arguments
	named  []expr
	star   expr // *args, may be nil
	double expr // **kwargs, may be nil
}

// A stmt is a statement: one of the types below.
type stmt interface{ lineNumber() int }

// A line is the line of the template that a statement is on.
type line int

func (l line) lineNumber() int { return int(l) }

type (
	outputStmt struct {
		line
		items []expr
		lines []int // of the items
	}
	ifStmt struct {
		line
		test      expr
		body      []stmt
		elifs     []*ifStmt
		otherwise []stmt
	}
	forStmt struct {
		line
		target    expr
		iter      expr
		test      expr // may be nil
		body      []stmt
		otherwise []stmt
		recursive bool

		loop      int // slot of the variable loop, -1 if the body doesn't use it
		scope     scopePlan
		elseScope scopePlan
		testPlan  *testPlan // of test
		unit      *unit     // of a recursive loop
	}
	assignStmt struct {
		line
		target expr
		value  expr
		export bool // at the top level: blocks see it
	}
	assignBlock struct {
		line
		target expr
		filter *filterExpr // may be nil
		body   []stmt
		export bool
		scope  scopePlan
	}
	macroStmt struct {
		line
		name   *nameExpr
		plan   *macroPlan
		export bool
	}
	callBlock struct {
		line
		call *callExpr // nil: the block generation
		plan *macroPlan
	}
	filterBlock struct {
		line
		filter *filterExpr
		body   []stmt
		scope  scopePlan
	}
	withStmt struct {
		line
		targets []expr
		values  []expr
		body    []stmt
		scope   scopePlan
	}
	autoescapeStmt struct {
		line
		on    expr
		body  []stmt
		scope scopePlan
	}
	blockStmt struct {
		line
		name   string
		scoped bool
		body   []stmt
		plan   *blockPlan
		locals []local // what a scoped block sees of the place where it stands
	}
	jumpStmt struct {
		line
		next bool // continue, not break
	}
	refusedStmt struct {
		line
		tag   string // include, import, from, extends
		names []*nameExpr
		x     expr
	}
)

// A macroPlan is the body of a macro or of a call block.
type macroPlan struct {
	name     string // empty: anonymous
	args     []*nameExpr
	defaults []expr // of the last arguments
	body     []stmt

	unit                    *unit
	scope                   scopePlan
	caller, kwargs, varargs int // slots, -1 if the body doesn't use them
}

// A testPlan is the function that filters the items of a loop. Its names live in its own frame.
type testPlan struct {
	unit   *unit
	scope  scopePlan
	target expr
}

// A blockPlan is the function of a named block.
type blockPlan struct {
	unit  *unit
	scope scopePlan
	body  []stmt
	self  int // slot of the variable self, -1 if the body doesn't use it
	super int
}

// A local is a variable that a scoped block sees.
type local struct {
	name string
	at   place
}

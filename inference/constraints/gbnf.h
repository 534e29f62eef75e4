// Context-free grammars in GBNF, the notation of llama.cpp.
//
//   root   ::= "answer: " number ("," number)*      # a comment
//   number ::= [0-9]{1,4} | "none"
//
// "text" and [classes] with the escapes \n \r \t \\ \" \[ \] \xHH \uHHHH \UHHHHHHHH; . is any character; ( ) | * + ?
// {m} {m,} {m,n}. The answer is what `root` matches. Two extensions: %json {...} is JSON that satisfies this JSON
// Schema; %raw "never" {...} is the same, but a text stands as it is, without quotes and escapes, the text in quotes
// comes nowhere, and no text comes that could be read as one of the other values that the schema allows. A rule may go
// on in the next line. Rules may be recursive, but not to the left.
#pragma once

#include <memory>
#include <string_view>

#include "inference/constraints/constraint.h"
#include "inference/constraints/grammar.h"

namespace glmhost::constraints {

// Not finished: the caller finishes it. Throws Error(bad_argument) with line and column; for rules that are not there
// or defined twice with their names; as compile() for a schema in it. The grammar is spec.text; what else SPEC says is
// said of the JSON in it.
std::shared_ptr<Grammar> gbnf_grammar(const Spec& spec);

// A rule that matches what DFA accepts.
RuleId automaton_rule(Grammar& grammar, const DfaPointer& dfa);

}  // namespace glmhost::constraints

; Colours, later patterns win.

(identifier) @variable
(quoted_identifier) @variable
(keyword) @keyword
["fn" "const" "use" "as"] @keyword
(root) @variable.builtin
(metadata) @variable.builtin
(boolean) @boolean
(null) @constant.builtin
(wildcard) @variable.builtin
(number) @number

(string) @string
(heredoc) @string
(raw_string) @string
(escape_sequence) @string.escape
(interpolation ["#{" "}"] @punctuation.special)

(comment) @comment
(doc_comment) @comment.documentation
(directive) @keyword.directive

(field name: (identifier) @variable.member)
(path (identifier) @module "::")
(call function: (path (identifier) @function .))
(use module: (path (identifier) @module))
(function_definition name: (identifier) @function)
(constant_definition name: (identifier) @constant)
(step operator: (path (identifier) @function.builtin))
(extractor name: (identifier) @function.builtin)
(test_literal) @string.regexp

; Words that begin a clause of a step; names everywhere else. A test holds them to the language's list.
(path
  .
  (identifier) @keyword.modifier
  .
  (#any-of? @keyword.modifier
    "across" "adjacent" "after" "before" "block" "burst" "bytes" "columns" "cost" "count" "every" "evict"
    "first" "gap" "keep" "key" "last" "limit" "max_keys" "mode" "on" "per" "refresh" "size" "store" "timeout"
    "types" "until" "using" "weight" "within"))

(operator) @operator
["|>" "~" "~=" "::"] @operator
(punctuation) @punctuation.delimiter
["(" ")" "[" "]" "{" "}" "%{" "%[" "%("] @punctuation.bracket

// The shell of a session: a fresh bash for each command, which finds the state that the last one left.

import { quoted } from './quoted.ts'

/** Options of `set -o` that carry over; errexit would end the shell, tracing would show our own lines. */
const carriedOptions =
  'allexport braceexpand hashall keyword noclobber noglob nounset physical pipefail'

/**
 * The script of one command, which is its `$1`. Restores the state from `from` and leaves the new one in
 * `to`; the agent lets `to` take the place of `from` when bash has exited in the ordinary way, so that a
 * killed command leaves the state of the one before.
 *
 * Order of a state: the directory as a comment, for commands that take nothing else; the directory before
 * CDPATH is known, options that decide how functions are parsed, functions without aliases, variables, then
 * what would change the reading of these. Assignments to bash's own read-only variables fail unheard. The saving runs at the end and from the EXIT trap (for
 * `exit`); whichever comes first removes it, so that the command may have an EXIT trap of its own.
 */
export function shellScript({ from, to }: { from: string; to: string }): string {
  const old = quoted(from)
  const next = quoted(to)
  return `__steward_save() {
  { set +ex; unset -f __steward_save; } 2>/dev/null
  {
    builtin printf '#%s\\n' "\${PWD//$'\\n'/}"
    builtin printf 'builtin cd -- %q\\n' "$PWD"
    builtin shopt -p
    builtin echo 'builtin shopt -u expand_aliases'
    builtin declare -f && builtin declare -p && builtin alias -p
    builtin shopt -po ${carriedOptions}
    builtin echo ':'
  } 2>/dev/null >|${next} || : >|${next}
  builtin return "\${1:-0}"
}
[ -s ${old} ] && builtin . ${old} >/dev/null 2>&1
builtin shopt -s expand_aliases
trap '__steward_save 2>/dev/null' EXIT
builtin eval "$1"
__steward_save "$?" 2>/dev/null
`
}

/**
 * The script of a command with secrets, which is its `$1`. Of the state it takes the directory alone: no function or
 * alias of an earlier command stands in the way of the program that the secrets are meant for.
 */
export function secretScript({ from }: { from: string }): string {
  return `IFS= builtin read -r directory 2>/dev/null <${quoted(from)} &&
  builtin cd -- "\${directory#?}" 2>/dev/null
builtin unset directory
builtin eval "$1"
`
}

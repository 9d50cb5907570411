// The shell of a session: a new bash for each command, which restores the state that the previous command left.

import { quoteWord } from './quote-word.ts'

/** Options of `set -o` that carry over. errexit would end the shell, and tracing would show the wrapper's own lines. */
const carriedOptions =
  'allexport braceexpand hashall keyword noclobber noglob nounset physical pipefail'

/**
 * The script of one command, whose text is `$1`. Restores the state from `from` and saves the new state to `to`. The
 * daemon replaces `from` by `to` when bash has exited normally, so that a killed command leaves the previous state.
 * Order of a state: the directory as a comment, for commands that restore nothing else; the directory before CDPATH is
 * set; options that decide how functions are parsed; functions without aliases; variables; then everything that would
 * change how these are parsed. Errors of assignments to bash's read-only variables are discarded. The state is saved at
 * the end and by the EXIT trap (for `exit`). The first of the two removes the trap, so that the command may set an EXIT
 * trap.
 */
export function shellScript({ from, to }: { from: string; to: string }): string {
  const old = quoteWord(from)
  const next = quoteWord(to)
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
trap 'builtin declare -F __steward_save >/dev/null && __steward_save 2>/dev/null' EXIT
builtin eval "$1"
__steward_save "$?" 2>/dev/null
`
}

/**
 * The script of a command with secrets, whose text is `$1`. It restores only the directory: a function or alias of an
 * earlier command cannot replace the program that gets the secrets.
 */
export function secretScript({ from }: { from: string }): string {
  return `IFS= builtin read -r directory 2>/dev/null <${quoteWord(from)} &&
  builtin cd -- "\${directory#?}" 2>/dev/null
builtin unset directory
builtin eval "$1"
`
}

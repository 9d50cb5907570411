/**
 * Whether a text is one single simple command for bash, and its words. Whatever bash could read in another way than
 * this does is no simple command: substitutions, expansions, redirections, lists, assignments, comments, backslashes.
 */

/** Words that begin something else than a simple command, or run a text or file of commands in this shell. */
const notCommands = new Set([
  ...['!', '[[', ']]', '{', '}', '-', 'if', 'then', 'else', 'elif', 'fi', 'for', 'select', 'while'],
  ...['until', 'do', 'done', 'case', 'esac', 'in', 'function', 'time', 'coproc'],
  ...['.', 'source', 'eval', 'exec', 'command', 'builtin', 'trap', 'alias', 'unalias', 'enable'],
  ...['set', 'shopt', 'export', 'declare', 'typeset', 'local', 'readonly', 'env', 'printenv'],
])
/** Programs that are given commands to run. */
const shells = new Set(['sh', 'bash', 'rbash', 'dash', 'zsh', 'ksh', 'mksh', 'fish', 'busybox'])

/** Anywhere, outside quotes: a character that bash may give a meaning of its own. */
const special = /[;&|<>()$`\\*?[\]{}!\n\r\0]/
/** Within double quotes. */
const specialQuoted = /[$`\\!\0\n\r]/

type State = { words: string[]; word: string | undefined; at: number }

export function simpleCommand(given: string): string[] | undefined {
  const text = given.replace(/\n+$/, '')
  const state: State = { words: [], word: undefined, at: 0 }
  while (state.at < text.length) if (!step(text, state)) return undefined
  if (state.word !== undefined) state.words.push(state.word)
  const [first] = state.words
  return first !== undefined && isProgram(first) ? state.words : undefined
}

/** Takes in what stands at `at`; false when it is nothing for a simple command. */
function step(text: string, state: State): boolean {
  const character = text.charAt(state.at)
  if (character === ' ' || character === '\t') {
    if (state.word !== undefined) state.words.push(state.word)
    state.word = undefined
    state.at++
    return true
  }
  if (character === "'" || character === '"') return quoted(text, state, character)
  if (special.test(character) || isOddSpace(character)) return false
  const before = text.charAt(state.at - 1)
  if (character === '#' && state.word === undefined) return false
  // A tilde is somebody's home at the start of a word, and behind = and : of what looks like an assignment.
  if (character === '~' && (state.word === undefined || before === '=' || before === ':'))
    return false
  state.word = (state.word ?? '') + character
  state.at++
  return true
}

function quoted(text: string, state: State, quote: string): boolean {
  const end = text.indexOf(quote, state.at + 1)
  if (end === -1) return false
  const inside = text.slice(state.at + 1, end)
  if (quote === '"' ? specialQuoted.test(inside) : inside.includes('\0')) return false
  state.word = (state.word ?? '') + inside
  state.at = end + 1
  return true
}

/** Control characters, and spaces that a locale may count among those between words. */
const isOddSpace = (character: string): boolean => /[\p{Cc}\p{Zs}\p{Zl}\p{Zp}]/u.test(character)

function isProgram(first: string): boolean {
  const name = first.slice(first.lastIndexOf('/') + 1)
  return (
    first !== '' &&
    // Bash takes a name with = for an assignment, and one with % for a job.
    !/[=%\s]/.test(first) &&
    !notCommands.has(first) &&
    !notCommands.has(name) &&
    !shells.has(name)
  )
}

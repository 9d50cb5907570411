/**
 * Decides whether a text is one simple command for bash, and splits it into words. A text that bash could read in
 * another way is no simple command: substitutions, expansions, redirections, lists, assignments, comments, backslashes.
 */

/** Words that begin another kind of command, or that run a text or file of commands in this shell. */
const notCommands = new Set([
  ...['!', '[[', ']]', '{', '}', '-', 'if', 'then', 'else', 'elif', 'fi', 'for', 'select', 'while'],
  ...['until', 'do', 'done', 'case', 'esac', 'in', 'function', 'time', 'coproc'],
  ...['.', 'source', 'eval', 'exec', 'command', 'builtin', 'trap', 'alias', 'unalias', 'enable'],
  ...['set', 'shopt', 'export', 'declare', 'typeset', 'local', 'readonly', 'env', 'printenv'],
])
/** Programs that run commands they are given. */
const shells = new Set(['sh', 'bash', 'rbash', 'dash', 'zsh', 'ksh', 'mksh', 'fish', 'busybox'])

/** Characters that may be special to bash outside of quotes. */
const special = /[;&|<>()$`\\*?[\]{}!\n\r\0]/
/** Characters that may be special to bash within double quotes. */
const specialQuoted = /[$`\\!\0\n\r]/

/** In characters. Linux starts no program with a longer word. */
const longest = 128 * 1024

type ParserState = { words: string[]; word: string | undefined; at: number }

/** Attack: a model can send a command of many megabytes, so the time grows with the length alone and has a bound. */
export function simpleCommand(given: string): string[] | undefined {
  if (given.length > longest) return undefined
  const text = given.replace(/(?<!\n)\n+$/, '')
  const state: ParserState = { words: [], word: undefined, at: 0 }
  while (state.at < text.length) if (!step(text, state)) return undefined
  if (state.word !== undefined) state.words.push(state.word)
  const [first] = state.words
  return first !== undefined && isProgram(first) ? state.words : undefined
}

/** Reads the character at `at`. Returns false when the text is no simple command. */
function step(text: string, state: ParserState): boolean {
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
  // A tilde is expanded at the start of a word, and after = and : in a word that looks like an assignment.
  if (character === '~' && (state.word === undefined || before === '=' || before === ':'))
    return false
  state.word = (state.word ?? '') + character
  state.at++
  return true
}

function quoted(text: string, state: ParserState, quote: string): boolean {
  const end = text.indexOf(quote, state.at + 1)
  if (end === -1) return false
  const inside = text.slice(state.at + 1, end)
  if (quote === '"' ? specialQuoted.test(inside) : inside.includes('\0')) return false
  state.word = (state.word ?? '') + inside
  state.at = end + 1
  return true
}

/** Control characters, and spaces that a locale may treat as word separators. */
const isOddSpace = (character: string): boolean => /[\p{Cc}\p{Zs}\p{Zl}\p{Zp}]/u.test(character)

function isProgram(first: string): boolean {
  const name = first.slice(first.lastIndexOf('/') + 1)
  return (
    first !== '' &&
    // Bash reads a name with = as an assignment, and a name with % as a job.
    !/[=%\s]/.test(first) &&
    !notCommands.has(first) &&
    !notCommands.has(name) &&
    !shells.has(name)
  )
}

/**
 * The questions that the people of a thread were told, in the notes of the thread. An approval counts for these questions alone, so a
 * question is noted before it is told.
 */
import type { Notes, Telling } from './integration.ts'

const prefix = 'question '

/** Holds the provider's id of the message with the buttons of the question; null while no message with buttons is known. */
export const questionNote = (call: string): string => `${prefix}${call}`

export const questionNotes = (notes: Notes): Notes =>
  Object.fromEntries(Object.entries(notes).filter(([name]) => name.startsWith(prefix)))

/** The calls of these questions. */
export const toldCalls = (notes: Notes): string[] =>
  Object.keys(questionNotes(notes)).map((name) => name.slice(prefix.length))

/** The notes with which an attempt to tell something begins. */
export function withQuestion(telling: Telling, notes: Notes): Notes {
  if (telling.kind !== 'question' || telling.needs !== 'confirmation') return notes
  const name = questionNote(telling.call)
  return notes[name] === undefined ? { ...notes, [name]: null } : notes
}

/** The notes after the result of a call, or after a question that its receiver did not take. */
export function withoutQuestion(telling: Telling, notes: Notes): Notes {
  const isOver = telling.kind === 'action' && telling.result !== null
  if (!isOver && telling.kind !== 'question') return notes
  const over = questionNote(telling.call)
  return Object.fromEntries(Object.entries(notes).filter(([name]) => name !== over))
}

/** By which people name one of several open questions. */
export const codeOf = (call: string): string => call.slice(-6).toLowerCase()

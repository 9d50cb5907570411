/**
 * The questions that the people of a thread were told, in the notes of the thread. Approvals count only for these
 * questions, so a question is noted before it is told.
 */
import type { Notes, Telling } from '../integration.ts'

const prefix = 'question '

/**
 * The note contains the provider's id of the message with the question's buttons, or null while that message is
 * unknown.
 */
export const questionNote = (call: string): string => `${prefix}${call}`

export const questionNotes = (notes: Notes): Notes =>
  Object.fromEntries(Object.entries(notes).filter(([name]) => name.startsWith(prefix)))

/** The calls whose questions were told. */
export const toldCalls = (notes: Notes): string[] =>
  Object.keys(questionNotes(notes)).map((name) => name.slice(prefix.length))

/** The notes at the beginning of an attempt. */
export function withQuestion(telling: Telling, notes: Notes): Notes {
  if (telling.kind !== 'question' || telling.needs !== 'confirmation') return notes
  const name = questionNote(telling.call)
  return notes[name] === undefined ? { ...notes, [name]: null } : notes
}

/** The notes after a call has its result, or after the receiver refused the question. */
export function withoutQuestion(telling: Telling, notes: Notes): Notes {
  const isOver = telling.kind === 'action' && telling.result !== null
  if (!isOver && telling.kind !== 'question') return notes
  const over = questionNote(telling.call)
  return Object.fromEntries(Object.entries(notes).filter(([name]) => name !== over))
}

/** A short code by which people name one of several open questions. */
export const codeOf = (call: string): string => call.slice(-6).toLowerCase()

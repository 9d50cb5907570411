/**
 * Reads an event stream before the library does. Passes on the fields that have a meaning and no other line, so that the
 * library reads exactly the data that was checked.
 */

import { MessageRefused } from './message-check.ts'

const fields = ['data:', 'event:', 'id:', 'retry:'] as const
const longestName = 'event:'.length
/** Bytes of the fields of an event beside its data. */
const mostBeside = 64 * 1024
/** The bytes of a byte order mark. */
const mark = '\u{ef}\u{bb}\u{bf}'

type Line = { field: (typeof fields)[number] | 'other'; rest: string } | undefined

/** Undefined while the field of the line is not known. */
function lineOf(head: string, isWhole: boolean): Line {
  const field = fields.find((each) => head.startsWith(each))
  if (field) return { field, rest: head.slice(field.length) }
  return isWhole || head.length >= longestName ? { field: 'other', rest: '' } : undefined
}

/** `checkOf`: starts the check of one event, which throws. It gets the data of the event. */
export function eventLines(checkOf: () => (piece: Uint8Array) => void) {
  let check = checkOf()
  let head = ''
  let line: Line
  let beside = 0
  let hasId = false
  let hasFields = false
  /** True when the last piece ended with \r: a \n that follows belongs to the same line end. */
  let isSplit = false
  let isFirst = true
  let passed = ''

  function add(text: string): void {
    if (line) return addRest(text)
    head += text
    line = lineOf(head, false)
    if (line) begin(line)
  }

  function begin({ field, rest }: NonNullable<Line>): void {
    if (field === 'other') return
    hasFields = true
    hasId ||= field === 'id:'
    passed += field
    addRest(rest)
  }

  function addRest(text: string): void {
    if (line?.field === 'other' || text === '') return
    if (line?.field === 'data:') check(Buffer.from(text, 'latin1'))
    else if ((beside += text.length) > mostBeside)
      throw new MessageRefused(`the answer has fields of more than ${mostBeside} bytes`)
    passed += text
  }

  function endLine(): void {
    if (line && line.field !== 'other') {
      // An empty line of data counts too: each is a line of the message.
      addRest('\n')
    } else if (!line && head === '' && hasFields) {
      passed += '\n'
      check = checkOf()
      beside = 0
      hasFields = false
    }
    head = ''
    line = undefined
  }

  return {
    /** True when the stream has named an event, from which it can be resumed. */
    hasIds: () => hasId,
    /** The lines to pass on, or their parts. */
    read(piece: Uint8Array): Uint8Array {
      // Latin 1 keeps each byte as it is.
      let text = Buffer.from(piece.buffer, piece.byteOffset, piece.length).toString('latin1')
      if (isFirst && text.startsWith(mark)) text = text.slice(mark.length)
      isFirst = false
      if (isSplit && text.startsWith('\n')) text = text.slice(1)
      isSplit = text.endsWith('\r')
      passed = ''
      for (const [index, part] of text.split(/\r\n|\r|\n/).entries()) {
        if (index > 0) endLine()
        if (part !== '') add(part)
      }
      return Buffer.from(passed, 'latin1')
    },
  }
}

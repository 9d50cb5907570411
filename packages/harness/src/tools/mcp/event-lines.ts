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

/**
 * `checkOf`: starts the check of one event, which throws. It gets the data of the event. `fit`: gets the whole data of an
 * event, and returns what the library is to read.
 */
export function eventLines(
  checkOf: () => (piece: Uint8Array) => void,
  fit: (data: string) => string,
) {
  let check = checkOf()
  /** Of the event that is being read; bytes as Latin 1. */
  let data: string[] = []
  let head = ''
  let line: Line
  let beside = 0
  let id: string | undefined
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
    if (field === 'id:') id = ''
    if (field !== 'data:') passed += field
    addRest(rest)
  }

  function addRest(text: string): void {
    if (line?.field === 'other' || text === '') return
    if (line?.field === 'data:') {
      check(Buffer.from(text, 'latin1'))
      data.push(text)
      return
    }
    if ((beside += text.length) > mostBeside)
      throw new MessageRefused(`the answer has fields of more than ${mostBeside} bytes`)
    if (line?.field === 'id:' && text !== '\n') id += text
    passed += text
  }

  function endEvent(): void {
    if (data.length > 0) {
      const given = Buffer.from(data.join(''), 'latin1').toString('utf8').replace(/\n$/, '')
      const text = fit(given)
      const written = `data:${text === given ? given.replaceAll('\n', '\ndata:') : text}\n`
      passed += Buffer.from(written, 'utf8').toString('latin1')
    }
    passed += '\n'
    data = []
    check = checkOf()
    beside = 0
    hasFields = false
  }

  function endLine(): void {
    if (line && line.field !== 'other') {
      // An empty line of data counts too: each is a line of the message.
      addRest('\n')
    } else if (!line && head === '' && hasFields) {
      endEvent()
    }
    head = ''
    line = undefined
  }

  return {
    /** The event that the stream named last, from which it can be resumed. */
    lastId: () => id?.replace(/^ /, ''),
    /** What an event lacks whose end the server has left out. */
    end(): Uint8Array {
      passed = ''
      if (head !== '' || line) endLine()
      if (hasFields) endEvent()
      return Buffer.from(passed, 'latin1')
    },
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

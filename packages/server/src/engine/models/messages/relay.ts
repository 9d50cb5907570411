/** Passes the answer of a model on that speaks the wire of the caller: as it came, but for the model's name. */
import { StringDecoder } from 'node:string_decoder'
import type { Readable } from 'node:stream'
import { answerLimits } from '@steward/model/wire/bounded-answer.ts'
import { z } from 'zod'
import { PlatformError } from '../../../ground/core/errors.ts'
import { eventFrame } from './answer.ts'
import type { UsageMeter } from './usage-meter.ts'

const Started = z.object({ message: z.record(z.string(), z.unknown()) })
const Counting = z.looseObject({ usage: z.unknown() })

async function textOf(body: Readable): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of body as AsyncIterable<Buffer>) pieces.push(piece)
  return Buffer.concat(pieces).toString('utf8')
}

/** The JSON of a whole answer, bounded by its body; undefined when it is no JSON object. */
export async function readObject(body: Readable): Promise<Record<string, unknown> | undefined> {
  const text = await textOf(body)
  try {
    return z.record(z.string(), z.unknown()).safeParse(JSON.parse(text)).data
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** A body in pieces whose lines end with a line feed alone. */
async function* linesOf(body: Readable): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8')
  let held = ''
  for await (const piece of body as AsyncIterable<Buffer>) {
    const text = held + decoder.write(piece)
    // A line feed that belongs to a carriage return may come with the next piece.
    held = text.endsWith('\r') ? '\r' : ''
    yield (held ? text.slice(0, -1) : text).replaceAll(/\r\n?/g, '\n')
  }
  if (held) yield '\n'
}

/**
 * The events of a body, each with the blank line behind it. Events of any line end are told apart. Attack: a model sends
 * a long event by single bytes. So each piece is looked at once.
 */
async function* eventsOf(body: Readable): AsyncGenerator<string> {
  let open: string[] = []
  let length = 0
  let last = ''
  for await (const piece of linesOf(body)) {
    const text = last + piece
    const [first = '', ...others] = text.split('\n\n')
    if (others.length > 0) {
      const event = open.join('') + first
      if (event.trim() !== '') yield `${event}\n\n`
      for (const each of others.slice(0, -1)) if (each.trim() !== '') yield `${each}\n\n`
      open = []
      length = 0
    }
    const rest = others.at(-1) ?? first
    // It may be the first half of a blank line.
    last = rest.endsWith('\n') ? '\n' : ''
    open.push(last ? rest.slice(0, -1) : rest)
    length += rest.length
    if (length > answerLimits.eventBytes)
      throw new PlatformError('bad_gateway', `the model sent an event of more than 2 MiB`)
  }
  const end = open.join('').trimEnd()
  if (end !== '') yield `${end}\n\n`
}

/** Some servers leave out the line `event:`; the data begins with the same word then. */
const typeIn = /^event: ?(\S+)|^data: ?\{"type": ?"(\w+)"/m

const dataOf = (event: string): unknown =>
  JSON.parse(
    event
      .split('\n')
      .flatMap((line) => (line.startsWith('data:') ? line.slice(5) : []))
      .join('\n'),
  )

/** `model`: the name that the caller gave. */
export async function* relayEvents(
  body: Readable,
  model: string,
  meter: UsageMeter,
): AsyncGenerator<string> {
  for await (const event of eventsOf(body)) {
    const [, named, told] = typeIn.exec(event) ?? []
    const type = named ?? told
    if (type === 'message_start') {
      const { message } = Started.parse(dataOf(event))
      meter.begin()
      meter.saw(message['usage'])
      yield eventFrame({ type, message: { ...message, model } })
      continue
    }
    if (type === 'message_delta') meter.saw(Counting.parse(dataOf(event)).usage)
    else if (type === 'content_block_delta') meter.grew(Buffer.byteLength(event) - deltaFrame)
    if (type === 'message_stop') meter.end()
    yield event
  }
}

/** Bytes of an event around the piece of an answer that it holds, about. */
const deltaFrame = 120

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

/** The events of a body, each with the blank line behind it. Events of any line end are told apart. */
async function* eventsOf(body: Readable): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  for await (const piece of body as AsyncIterable<Buffer>) {
    // A line feed that belongs to a carriage return may come with the next piece.
    rest += decoder.write(piece)
    const held = rest.endsWith('\r') ? '\r' : ''
    const text = (held ? rest.slice(0, -1) : rest).replaceAll(/\r\n?/g, '\n')
    const events = text.split('\n\n')
    rest = (events.pop() ?? '') + held
    if (rest.length > answerLimits.eventBytes)
      throw new PlatformError('bad_gateway', `the model sent an event of more than 2 MiB`)
    for (const event of events) if (event.trim() !== '') yield `${event}\n\n`
  }
  const last = rest.replaceAll(/\r\n?/g, '\n').trimEnd()
  if (last !== '') yield `${last}\n\n`
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

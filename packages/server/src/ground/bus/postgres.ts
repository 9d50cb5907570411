import { randomUUID } from 'node:crypto'
import { runAgain } from '@steward/base/shared-runs.ts'
import { z } from 'zod'
import { countCharacters } from '../core/text/characters.ts'
import { keepConnection } from '../core/postgres-connection.ts'
import { usualPostgresLimits } from '../core/postgres-client.ts'
import { systemClock } from '@steward/base/time.ts'
import type { BusMessage, FamilyChannel } from './bus.ts'
import { largestMessage, missedMessage } from './bus.ts'
import { memoryChannel } from './memory.ts'

const channel = 'steward'
/** Most bytes of one notification: Postgres refuses 8,000. */
const payloadBytes = 7_800

/** Milliseconds for the last messages at the close. */
const lastWordsMs = 2_000

const Messages = z.array(z.tuple([z.string(), z.record(z.string(), z.unknown())]))
/** Characters of one part. A character may take six bytes as JSON within JSON. */
const partLength = 1_200
const PartNumber = z.int().max(Math.ceil(largestMessage / partLength) + 1)
const Part = z.object({ id: z.string(), part: PartNumber, of: PartNumber, text: z.string() })
const Note = z.union([
  z.object({ from: z.string(), messages: Messages }),
  z.object({ from: z.string(), part: Part }),
])
type Note = z.infer<typeof Note>

/** Undefined for a foreign message: the channel is open to everyone on this database. */
function read<Said>(form: z.ZodType<Said>, text: string): Said | undefined {
  try {
    return form.safeParse(JSON.parse(text)).data
  } catch {
    // Not JSON, so not sent by this service.
    return undefined
  }
}

/**
 * Notifications to many processes by LISTEN and NOTIFY over one direct connection. Subscribers of this process are
 * called at once. Other processes get batches: each has the messages that came while the one before was sent.
 */
export async function postgresChannel(
  url: string,
  limits = usualPostgresLimits,
): Promise<FamilyChannel> {
  const local = memoryChannel()
  const self = randomUUID()
  const waiting: [string, BusMessage][] = []
  /** The message whose parts arrive now. Parts of one message arrive together and in order. */
  let cut: { id: string; texts: string[] } | undefined
  let closed = false
  const connection = await keepConnection(url, limits, async (client) => {
    cut = undefined
    client.on('notification', ({ payload }) => hearText(payload ?? ''))
    await client.query(`listen ${channel}`)
    // Messages that others sent during the loss of the connection are lost.
    local.miss()
  })

  function hearText(text: string): void {
    const note = read(Note, text)
    if (note) hear(note)
  }

  function hear(note: Note): void {
    if (note.from === self) return
    if ('messages' in note) {
      for (const [topic, message] of note.messages) local.publish(topic, message)
      return
    }
    const { id, part, of, text } = note.part
    if (part === 0) cut = { id, texts: [] }
    if (cut?.id !== id || cut.texts.length !== part) return
    cut.texts.push(text)
    if (part < of - 1) return
    const messages = read(Messages, cut.texts.join(''))
    cut = undefined
    if (messages) hear({ from: note.from, messages })
  }

  const send = runAgain(async () => {
    while (waiting.length > 0) {
      const batch = waiting.splice(0)
      try {
        await connection.query(
          'select pg_notify($1, p) from unnest($2::text[]) with ordinality as t(p, n) order by n',
          [channel, pack(self, batch)],
        )
      } catch {
        // The batch may or may not be sent: subscribers of its topics get `missedMessage` when the server is back.
        const topics = new Set([...batch, ...waiting.splice(0)].map(([topic]) => topic))
        for (const topic of topics) waiting.push([topic, missedMessage])
        if (closed) return
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    }
  })

  return {
    publish(topic, message) {
      local.publish(topic, message)
      if (closed) return
      waiting.push([topic, message])
      void send()
    },
    subscribe: (topic, hear) => local.subscribe(topic, hear),
    hearEach: (prefix, hear) => local.hearEach(prefix, hear),
    mayBeHeard: () => true,
    isOpen: () => connection.isOpen(),
    async close() {
      closed = true
      const late = new AbortController()
      await Promise.race([send.current(), systemClock.sleep(lastWordsMs, late.signal)])
      late.abort()
      await connection.close()
    },
  }
}

/** Packs messages into few payloads. Joins small messages and cuts a large one into numbered parts. */
function pack(from: string, messages: [string, BusMessage][]): string[] {
  const payloads: string[] = []
  let batch: [string, BusMessage][] = []
  let bytes = 0
  const flush = () => {
    if (batch.length > 0) payloads.push(JSON.stringify({ from, messages: batch } satisfies Note))
    batch = []
    bytes = 0
  }
  for (const message of messages) {
    if (countCharacters(message) > largestMessage) continue
    const text = JSON.stringify(message)
    const size = Buffer.byteLength(text) + 1
    if (size > largestMessage) continue
    if (bytes + size > payloadBytes - 100) flush()
    if (size > payloadBytes - 100) payloads.push(...cutUp(from, `[${text}]`))
    else {
      batch.push(message)
      bytes += size
    }
  }
  flush()
  return payloads
}

function cutUp(from: string, text: string): string[] {
  const id = randomUUID()
  const of = Math.ceil(text.length / partLength)
  return Array.from({ length: of }, (_, part) =>
    JSON.stringify({
      from,
      part: { id, part, of, text: text.slice(part * partLength, (part + 1) * partLength) },
    } satisfies Note),
  )
}

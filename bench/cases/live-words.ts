/**
 * Live words of 10,000 sessions that stream at once in one process, read in another: all of them, and ten. Both
 * transports, which BUS_URL chooses between.
 */
import type { ChildProcess } from 'node:child_process'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { setTimeout as pause } from 'node:timers/promises'
import { natsServer } from '@steward/server/ground/bus/nats/fixture.ts'
import type { Figure } from '../figures.ts'
import { openLiveWords } from '../live-words-channel.ts'
import type { ReaderReport } from '../live-words-reader.ts'

const streams = 10_000
/** Words a second of all streams together; a model writes 20 to 100 a second, and few sessions write at once. */
const rate = 20_000
const seconds = 5
const tickMs = 10
const word = { type: 'content_block_delta', delta: { type: 'text_delta', text: ' seventeen' } }

type Said = { ready?: true; report?: ReaderReport }

/** The first message of the reader that has the field. */
function heardFrom<Field extends keyof Said>(
  reader: ChildProcess,
  field: Field,
): Promise<NonNullable<Said[Field]>> {
  return new Promise((resolve, reject) => {
    reader.on('message', (said: Said) => {
      const value = said[field]
      if (value) resolve(value)
    })
    reader.once('exit', () => reject(new Error('the reader has ended')))
  })
}

async function* readBy(
  transport: 'direct' | { nats: string },
  read: number,
): AsyncGenerator<Figure> {
  const name = transport === 'direct' ? 'direct connections' : 'NATS'
  const program = fileURLToPath(new URL('../live-words-reader.ts', import.meta.url))
  const [kind, url] = transport === 'direct' ? ['direct', ''] : ['nats', transport.nats]
  const reader = fork(program, [kind, url, String(read)])
  const ready = heardFrom(reader, 'ready')
  const channel = await openLiveWords(transport, reader)
  await ready
  // The interest of the reader arrives.
  await pause(3_000)
  reader.send({ begin: true })
  const begun = process.cpuUsage()
  let sent = 0
  const from = performance.now()
  while (sent < rate * seconds) {
    const due = Math.min(rate * seconds, ((performance.now() - from) * rate) / 1000)
    for (; sent < due; sent++) {
      const topic = `stream:${sent % streams}`
      if (channel.mayBeHeard(topic)) channel.publish(topic, { ...word, at: Date.now() })
    }
    await pause(tickMs)
  }
  const tookMs = performance.now() - from
  const { user, system } = process.cpuUsage(begun)
  await pause(2_000)
  const reported = heardFrom(reader, 'report')
  reader.send({ report: true })
  const { heard, delayMs, lateMs, cpuMs } = await reported
  reader.send({ end: true })
  await Promise.all([channel.close(), once(reader, 'exit')])
  const meant = (rate * seconds * read) / streams
  const of = `${streams.toLocaleString('en')} streams over ${name}, ${read.toLocaleString('en')} read elsewhere`
  const second = tookMs / 1000
  yield {
    what: `${of}: processor of the sender`,
    value: (user + system) / 1000 / second,
    unit: 'ms/s',
  }
  yield { what: `${of}: processor of the reader`, value: cpuMs / second, unit: 'ms/s' }
  yield { what: `${of}: a word is on its way, median`, value: delayMs, unit: 'ms' }
  yield { what: `${of}: a word is on its way, 99 of 100`, value: lateMs, unit: 'ms' }
  yield {
    what: `${of}: words lost`,
    value: meant - heard,
    unit: `of ${meant.toLocaleString('en')}`,
  }
}

export async function* liveWords(): AsyncGenerator<Figure> {
  await using nats = await natsServer()
  for (const read of [streams, 10])
    for (const transport of ['direct', { nats: nats.url }] as const) yield* readBy(transport, read)
}

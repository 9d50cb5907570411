/** For tests: a receiver of webhooks on loopback, endpoints in a database, and a clock that is moved by hand. */
import { createServer } from 'node:http'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Seal } from '../../ground/core/seal.ts'
import type { Clock } from '@steward/base/time.ts'
import { systemClock } from '@steward/base/time.ts'
import type { Database } from '../../ground/database/database.ts'
import { newSecret } from './sign.ts'
import { endpointOf, endpointStore } from './store.ts'

export async function newEndpoint(
  database: Database,
  seal: Seal,
  { tenant, url, events = ['*'] }: { tenant: string; url: string; events?: string[] },
): Promise<{ id: string; secret: string }> {
  const secret = newSecret()
  const row = endpointOf(tenant, { url, enabled_events: events }, { seal, secret, now: 0 })
  await database.write((tx) => endpointStore(tx).insert(row))
  return { id: row.id, secret }
}

/** Moved by hand; whoever sleeps looks at it every few milliseconds of the day's own. */
export function handClock(): Clock & { pass(ms: number): void } {
  let now = Date.now()
  return {
    now: () => now,
    sleep: (_ms, signal) => systemClock.sleep(5, signal),
    pass: (ms) => void (now += ms),
  }
}

export type Letter = { url: string; headers: IncomingHttpHeaders; body: string }

type Answers = (response: ServerResponse, letter: Letter, count: number) => void

export type Receiver = AsyncDisposable & {
  url: string
  letters: Letter[]
  /** Resolves once so many have come. */
  came(count: number): Promise<Letter[]>
  /** From now on. */
  answer(next: Answers): void
}

/** Answers 204 unless it is told otherwise. */
export async function receiver(): Promise<Receiver> {
  const letters: Letter[] = []
  const waiting = new Set<() => void>()
  let answers: Answers = (response) => void response.writeHead(204).end()
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => void pieces.push(piece))
    request.on('end', () => {
      const body = Buffer.concat(pieces).toString()
      const letter = { url: request.url ?? '', headers: request.headers, body }
      letters.push(letter)
      answers(response, letter, letters.length)
      for (const look of waiting) look()
    })
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    letters,
    came: (count) =>
      new Promise((resolve) => {
        const look = () => {
          if (letters.length < count) return
          waiting.delete(look)
          resolve(letters)
        }
        waiting.add(look)
        look()
      }),
    answer: (next) => void (answers = next),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => void server.close(resolve))
    },
  }
}

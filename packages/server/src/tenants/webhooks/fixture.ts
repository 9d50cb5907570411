/** For tests: a receiver of webhooks on loopback, endpoints in a database, and a clock that is moved by hand. */
import { createServer } from 'node:http'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Seal } from '../../ground/core/security/seal.ts'
import type { Clock } from '@steward/base/time.ts'
import { systemClock } from '@steward/base/time.ts'
import type { Database } from '../../ground/database/database.ts'
import { newSecret } from './sign.ts'
import { buildEndpointRow } from './store.ts'
import { rows } from '../../ground/database/rows.ts'

export async function newEndpoint(
  database: Database,
  seal: Seal,
  { tenant, url, events = ['*'] }: { tenant: string; url: string; events?: string[] },
): Promise<{ id: string; secret: string }> {
  const secret = newSecret()
  const row = buildEndpointRow(tenant, { url, enabled_events: events }, { seal, secret, now: 0 })
  await database.write((tx) => rows(tx, 'webhook_endpoints').insert(row))
  return { id: row.id, secret }
}

/** A clock that tests move by hand. A sleep ends after 5 real milliseconds. */
export function handClock(): Clock & { pass(ms: number): void } {
  let now = Date.now()
  return {
    now: () => now,
    sleep: (_ms, signal) => systemClock.sleep(5, signal),
    pass: (ms) => void (now += ms),
  }
}

export type ReceivedDelivery = { url: string; headers: IncomingHttpHeaders; body: string }

type AnswerDelivery = (response: ServerResponse, letter: ReceivedDelivery, count: number) => void

export type TestEndpoint = AsyncDisposable & {
  url: string
  letters: ReceivedDelivery[]
  /** Resolves once `count` deliveries have come. */
  came(count: number): Promise<ReceivedDelivery[]>
  /** Sets the answer of later deliveries. */
  answer(next: AnswerDelivery): void
}

/** Answers 204 until `answer` is called. */
export async function startTestEndpoint(): Promise<TestEndpoint> {
  const letters: ReceivedDelivery[] = []
  const waiting = new Set<() => void>()
  let answers: AnswerDelivery = (response) => void response.writeHead(204).end()
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

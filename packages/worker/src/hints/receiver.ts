/** Receives the service's signed webhooks about queued work. [worker/hint/polls] */
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Anthropic from '@anthropic-ai/sdk'
import { z } from 'zod'
import type { Log } from '@steward/base/log.ts'
import type { Hints } from './hints.ts'
import { wakeSignal } from './hints.ts'
import { intentsIn } from './intents.ts'

export type HintReceiverOptions = { host: string; port: number; key: string; folder: string }

export type HintReceiver = Hints & { port: number; close: () => Promise<void> }

const longestBody = 64 * 1024
const Event = z.object({
  id: z.string().regex(/^[\w-]{1,128}$/),
  data: z.object({ type: z.string(), id: z.string() }),
})

/**
 * Answers 204 for a hint that is stored, and for other events, which are ignored; 401 for a request that is not the
 * service's, or too old; 500 when the hint cannot be stored, so that the sender tries again.
 */
export async function receiveHints(
  receiving: HintReceiverOptions,
  log: Log,
): Promise<HintReceiver> {
  const { host, port, key, folder } = receiving
  const intents = await intentsIn(folder, Date.now())
  const { wake, wait } = wakeSignal()
  const { webhooks } = new Anthropic({ apiKey: null, authToken: null }).beta

  /** Throws for a request that was not signed with the key, or was signed too long ago. */
  const verified = (body: string, request: IncomingMessage): unknown => {
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    )
    return webhooks.unwrap(body, { headers, key })
  }

  async function statusOf(request: IncomingMessage): Promise<number> {
    if (request.method !== 'POST') return 405
    const body = await textOf(request)
    if (body === undefined) return 413
    let event
    try {
      event = verified(body, request)
    } catch (error) {
      log.warn('a hint was refused', { error: (error as Error).message })
      return 401
    }
    const read = Event.safeParse(event)
    if (!read.success || read.data.data.type !== 'session.status_run_started') return 204
    const { id, data } = read.data
    const isNew = await intents.keep(id, body)
    log.info('hinted', { event: id, session: data.id, isNew })
    if (isNew) wake()
    return 204
  }

  const server = createServer((request, response) => {
    statusOf(request)
      .catch((error: Error) => {
        log.warn('a hint was not written down', { error: error.message })
        return 500
      })
      .then((status) => response.writeHead(status, { connection: 'close' }).end())
      .catch((error: Error) => log.warn('a hint was not answered', { error: error.message }))
  })
  server.listen(port, host)
  await once(server, 'listening')
  const { open, settle } = intents
  return {
    open,
    settle,
    wait,
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

/** Undefined when the body is too long. */
async function textOf(request: IncomingMessage): Promise<string | undefined> {
  const pieces: Buffer[] = []
  let length = 0
  for await (const piece of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += piece.length
    if (length > longestBody) return undefined
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString()
}

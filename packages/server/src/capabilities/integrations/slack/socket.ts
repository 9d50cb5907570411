/**
 * Deliveries of Slack over a socket that the service opens, for a service that Slack cannot reach. Each process has one
 * socket.
 */
import type { Log } from '@steward/base/log.ts'
import type { WebSocket } from 'undici'
import { z } from 'zod'
import type { Job } from '../../../ground/core/time/jobs.ts'
import { parsePayload } from '../deliveries/payload.ts'
import type { Send } from '../answers/send.ts'

export type SlackSocket = {
  apiUrl: string
  /** SECRET: never logged. */
  appToken: string
  open: (url: string) => Promise<WebSocket>
}

/** `take`: resolves once the delivery is on disk. */
export type SlackSocketDeps = SlackSocket & {
  send: Send
  log: Log
  take: (body: Uint8Array) => Promise<unknown>
}

/** The wait before a socket that has ended is opened again. */
const everyMs = 10_000
/** The most characters of a delivery, as over HTTP. */
const mostCharacters = 4 * 1024 * 1024

const opened = z.object({ ok: z.literal(true), url: z.url({ protocol: /^wss?$/ }) })
const refused = z.object({ error: z.string() })
const envelope = z.object({
  type: z.string(),
  envelope_id: z.string().min(1).max(256).optional(),
  payload: z.looseObject({}).optional(),
})

/** These deliveries have no signature: only a holder of the app's token can open the socket at Slack. */
export function slackSocketJob({ apiUrl, appToken, open, send, log, take }: SlackSocketDeps): Job {
  let current: WebSocket | undefined
  let runNow = (): void => {}

  async function urlOf(signal: AbortSignal): Promise<string | undefined> {
    const letter = {
      method: 'POST',
      url: `${apiUrl}/apps.connections.open`,
      headers: {
        authorization: `Bearer ${appToken}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: '',
    } as const
    const answer = await send(letter, signal)
    const body = 'body' in answer ? parsePayload(Buffer.from(answer.body)) : undefined
    const { data } = opened.safeParse(body)
    if (data) return data.url
    const reason = 'error' in answer ? answer.error : refused.safeParse(body).data?.error
    log.warn('Slack opens no socket; it is asked again', { reason })
    return undefined
  }

  /** Stores a delivery before acknowledging it, because Slack repeats unacknowledged deliveries. */
  async function hear(socket: WebSocket, text: string): Promise<void> {
    const { data } = envelope.safeParse(parsePayload(Buffer.from(text)))
    if (data?.type === 'hello') return log.info('deliveries of Slack come over a socket')
    if (data?.type === 'disconnect') return forget(socket)
    if (data?.envelope_id === undefined) return
    if (data.payload) await take(Buffer.from(JSON.stringify(data.payload)))
    if (socket.readyState === socket.OPEN)
      socket.send(JSON.stringify({ envelope_id: data.envelope_id }))
  }

  /** Slack announces the end of a socket early, so that the next socket can be opened before that end. */
  function forget(socket: WebSocket): void {
    if (current !== socket) return
    current = undefined
    runNow()
  }

  function listen(socket: WebSocket): void {
    socket.addEventListener('message', ({ data }) => {
      if (typeof data !== 'string' || data.length > mostCharacters) return
      hear(socket, data).catch((error: unknown) => {
        log.error('a delivery of Slack could not be kept; Slack sends it again', { error })
      })
    })
    for (const end of ['close', 'error'] as const)
      socket.addEventListener(end, () => {
        if (current === socket) current = undefined
      })
  }

  return {
    name: 'hear Slack',
    everyMs,
    async run(signal) {
      if (current) return true
      const url = await urlOf(signal)
      if (url === undefined || signal.aborted) return true
      const socket = await open(url)
      current = socket
      listen(socket)
      if (signal.aborted) socket.close()
      return true
    },
    start(now) {
      runNow = now
      return () => current?.close()
    },
  }
}

/** Clients of a measured server: calls over kept connections, and watched streams. */
import { Pool } from 'undici'
import { key } from './processes.ts'

const headers = { 'x-api-key': key, 'content-type': 'application/json' }

export type Client = ReturnType<typeof client>

/** A thin client over a few kept connections, so that the figures are those of the server. `credential`: in place of the key. */
export function client(base: string, connections = 16, credential: Record<string, string> = {}) {
  const sent = { ...headers, ...credential }
  const pool = new Pool(base, { connections, pipelining: 1 })

  async function send(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    body?: string,
  ): Promise<unknown> {
    const response = await pool.request({ method, path, headers: sent, body: body ?? null })
    const text = await response.body.text()
    if (response.statusCode >= 300)
      throw new Error(`${method} ${path}: ${response.statusCode} ${text}`)
    return text === '' ? undefined : JSON.parse(text)
  }

  const make = async (path: string, body: object) =>
    ((await send('POST', path, JSON.stringify(body))) as { id: string }).id

  return {
    get: (path: string) => send('GET', path),
    post: (path: string, body: object) => send('POST', path, JSON.stringify(body)),
    remove: (path: string) => send('DELETE', path),
    make,
    close: () => pool.destroy(),

    /** Calls per second, with `concurrent` calls at once. */
    async rate(concurrent: number, seconds: number, call: () => Promise<unknown>): Promise<number> {
      const until = performance.now() + seconds * 1000
      let count = 0
      const began = performance.now()
      const worker = async () => {
        while (performance.now() < until) {
          await call()
          count++
        }
      }
      await Promise.all(Array.from({ length: concurrent }, worker))
      return (count / (performance.now() - began)) * 1000
    },
  }
}

export type Watched = { type: string; at: number; data: Record<string, unknown> }

/** Follows a session. `until` resolves with the first event of these types that comes after the call of `until`. */
export async function watch(
  base: string,
  session: string,
  path = `/v1/sessions/${session}/events/stream?include=chunks`,
) {
  const stop = new AbortController()
  const response = await fetch(base + path, {
    headers,
    signal: stop.signal,
  })
  type Waiting = {
    types: string[]
    resolve: (seen: Watched) => void
    reject: (why: unknown) => void
  }
  const waiting: Waiting[] = []
  const reading = (async () => {
    let text = ''
    for await (const piece of (response.body ?? new Blob([]).stream()).pipeThrough(
      new TextDecoderStream(),
    )) {
      const at = performance.now()
      text += piece
      const frames = text.split('\n\n')
      text = frames.pop() ?? ''
      for (const frame of frames) {
        const json = /^data: (.*)$/m.exec(frame)?.[1]
        if (!json) continue
        const data = JSON.parse(json) as Record<string, unknown> & { type: string }
        for (const wait of waiting.filter(({ types }) => types.includes(data.type))) {
          waiting.splice(waiting.indexOf(wait), 1)
          wait.resolve({ type: data.type, at, data })
        }
      }
    }
  })().catch((error: unknown) => {
    // The stream of a killed server breaks off. The callers that still wait get the error.
    for (const { reject } of waiting.splice(0)) reject(error)
  })
  return {
    until: (...types: string[]) =>
      new Promise<Watched>((resolve, reject) => void waiting.push({ types, resolve, reject })),
    async close() {
      stop.abort()
      await reading
    },
  }
}

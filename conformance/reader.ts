/** Reads an event stream of the service frame by frame, without a client library. */
import assert from 'node:assert/strict'
import type { ServiceClients } from './service.ts'
import type { SeenEvent } from './turns.ts'

type StreamFrame = { event: string | undefined; id: string | undefined; data: SeenEvent }

export type StreamReader = AsyncDisposable & {
  response: Response
  frames: StreamFrame[]
  comments: string[]
  /** Returns the frames up to the first that `fits` accepts. Fails when the stream ends earlier. */
  until(fits: (data: SeenEvent) => boolean): Promise<StreamFrame[]>
  untilType(type: string): Promise<StreamFrame[]>
  /** Resolves when the service has ended the stream. */
  ended: Promise<void>
}

export async function openStream(
  service: ServiceClients,
  path: string,
  { headers = {}, body }: { headers?: Record<string, string>; body?: unknown } = {},
): Promise<StreamReader> {
  const response = await service.raw(body === undefined ? 'GET' : 'POST', path, body, headers)
  assert.equal(response.status, 200, `${path}: ${response.status}`)
  return readStream(response)
}

export function readStream(response: Response): StreamReader {
  const frames: StreamFrame[] = []
  const comments: string[] = []
  let changed = Promise.withResolvers<void>()
  let over = false
  const body = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  assert.ok(body)

  async function readAll(): Promise<void> {
    let text = ''
    for (;;) {
      const { done, value } = (await body?.read()) ?? { done: true, value: undefined }
      if (done) break
      text += value
      const parts = text.split('\n\n')
      text = parts.pop() ?? ''
      for (const part of parts) take(part)
      changed.resolve()
      changed = Promise.withResolvers()
    }
  }

  function take(part: string): void {
    const lines = part.split('\n')
    const field = (name: string) =>
      lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
    const data = field('data')
    if (data === undefined) comments.push(part)
    else
      frames.push({ event: field('event'), id: field('id'), data: JSON.parse(data) as SeenEvent })
  }

  const finish = () => {
    over = true
    changed.resolve()
  }
  const ended = readAll().then(finish, finish)

  async function until(fits: (data: SeenEvent) => boolean): Promise<StreamFrame[]> {
    for (;;) {
      const at = frames.findIndex(({ data }) => fits(data))
      if (at >= 0) return frames.slice(0, at + 1)
      assert.ok(!over, `the stream ended after ${frames.map(({ data }) => data.type).join(', ')}`)
      await changed.promise
    }
  }

  return {
    response,
    frames,
    comments,
    ended,
    until,
    untilType: (type) => until((data) => data.type === type),
    async [Symbol.asyncDispose]() {
      if (!over) await body.cancel()
    },
  }
}

/** Returns the log up to its `count`th `session.status_idle`, and waits until that event exists. */
export async function untilIdle(
  service: ServiceClients,
  session: string,
  count = 1,
): Promise<SeenEvent[]> {
  await using reader = await openStream(
    service,
    `/v1/sessions/${session}/events/stream?replay=1&include=chunks`,
  )
  let idles = 0
  const seen: SeenEvent[] = []
  await reader.until((data) => {
    if (data['seq'] === null || data['seq'] === undefined) return false
    const counted = seen.some(({ id }) => id === data.id)
    if (!counted) seen.push(data)
    if (!counted && data.type === 'session.status_idle') idles += 1
    return idles >= count
  })
  return seen
}

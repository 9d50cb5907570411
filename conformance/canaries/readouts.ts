/** All output of a service, by its source. */
import assert from 'node:assert/strict'
import type { ServiceClients, LooseBody } from '../service.ts'

export type Readouts = {
  /** Output by the name of its source. */
  sources: Map<string, string>
  note: (source: string, text: string) => void
  /** Sends a request and records its answer. */
  ask: (
    method: string,
    path: string,
    body?: unknown,
  ) => Promise<{ status: number; body: LooseBody }>
  /** Sends a request whose answer shows a secret to a workspace admin on purpose. The answer is not recorded. */
  reveal: (path: string, body: unknown) => Promise<LooseBody>
  /** Records a stream until it ends. Resolves when the stream is open. */
  listen: (path: string) => Promise<void>
  /** Resolves when every stream has ended. */
  settled: () => Promise<void>
}

/** Beta headers. Without them the routes of memory stores and outputs refuse every request. */
const headers = { 'vendor-beta': 'agent-memory-2026-07-22, managed-agents-2026-04-01' }

/** `clients` is called for each request, because the server process changes. */
export function createReadouts(clients: () => ServiceClients, adminKey: string): Readouts {
  const sources = new Map<string, string>()
  const streams: Promise<void>[] = []
  const note = (source: string, text: string) =>
    void sources.set(source, `${sources.get(source) ?? ''}${text}\n`)

  async function read(source: string, answer: Response): Promise<void> {
    const decoder = new TextDecoder()
    try {
      for await (const piece of answer.body ?? []) note(source, decoder.decode(piece))
    } catch (error) {
      // The server may have been killed meanwhile.
      note(source, String(error))
    }
  }

  return {
    sources,
    note,
    async ask(method, path, body) {
      const answer = await clients().raw(method, path, body, headers)
      const source = `the answer to ${method} ${path}`
      note(source, JSON.stringify([...answer.headers]))
      if (answer.headers.get('content-type')?.startsWith('text/event-stream')) {
        await read(source, answer)
        return { status: answer.status, body: {} as LooseBody }
      }
      const text = await answer.text()
      note(source, text)
      return { status: answer.status, body: parsed(text) }
    },
    async reveal(path, body) {
      const { status, body: shown } = await clients().ask('POST', path, body, {
        'x-api-key': adminKey,
      })
      assert.ok(status < 300, JSON.stringify(shown))
      return shown
    },
    settled: async () => void (await Promise.all(streams)),
    async listen(path) {
      const answer = await clients().raw('GET', path, undefined, headers)
      assert.equal(answer.status, 200)
      streams.push(read(`the stream ${path}`, answer))
    },
  }
}

function parsed(text: string): LooseBody {
  try {
    return JSON.parse(text) as LooseBody
  } catch {
    return { id: '', data: [], text } as LooseBody
  }
}

/** Requests each readable path of the OpenAPI description, with each id of the list above it. */
export async function readEverything({ ask, listen }: Readouts): Promise<string[]> {
  const { body } = await ask('GET', '/openapi.json')
  const paths = body['paths'] as Record<string, Record<string, unknown>>
  const known = new Map<string, Promise<string[]>>()
  const asked: string[] = []

  const idsOf = (path: string): Promise<string[]> => {
    const ids = known.get(path) ?? list(path)
    known.set(path, ids)
    return ids
  }
  async function list(path: string): Promise<string[]> {
    if (!isRead(path)) return []
    const { body: page } = await ask('GET', path)
    const rows = Array.isArray(page.data) ? page.data : []
    return rows.map((row) => String(path.endsWith('/versions') ? Number(row['version']) : row.id))
  }
  const isRead = (path: string) =>
    Object.entries(paths).some(
      ([template, methods]) =>
        'get' in methods && new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
    )
  async function filled(template: string): Promise<string[]> {
    const found = /^(.*?)\/\{\w+\}/.exec(template)
    if (!found) return [template]
    const [before, above = ''] = found
    const rest = template.slice(before.length)
    const all = await Promise.all(
      (await idsOf(above)).map((id) => filled(`${above}/${encodeURIComponent(id)}${rest}`)),
    )
    return all.flat()
  }

  for (const [template, methods] of Object.entries(paths)) {
    if (!('get' in methods)) continue
    for (const path of await filled(template)) {
      asked.push(path)
      // A live stream has no end, so past events are replayed and recorded.
      if (path === '/v1/ext/stream') await listen(path)
      else if (path.endsWith('/stream')) await listen(`${path}?replay=1&include=chunks`)
      else await ask('GET', path)
    }
  }
  return asked
}

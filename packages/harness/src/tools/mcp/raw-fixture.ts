/** For tests: an MCP server whose answers are written out, as servers do that do not speak by the book. */
import { httpPeer } from './mcp-fixture.ts'
import type { TestPeer } from './mcp-fixture.ts'

export type RawRequest = {
  id?: number
  method: string
  params?: { cursor?: string; name?: string; arguments?: unknown; protocolVersion?: string }
  /** Of the session in whose name the request was sent. */
  session: string | null
}
/** Returns a response, or the members of the answer beside `jsonrpc` and `id`. Undefined for the usual answer. */
export type RawAnswer = (request: RawRequest) => Response | object | undefined

export const validTool = (name: string) => ({ name, inputSchema: { type: 'object' } })

/** `session`: the id that is given at the handshake; none without it. */
export function rawAnswers(answer: RawAnswer, session: () => string | undefined = () => undefined) {
  return async (request: Request): Promise<Response> => {
    if (request.method !== 'POST') return new Response(null, { status: 405 })
    const sent = (await request.json()) as RawRequest
    sent.session = request.headers.get('mcp-session-id')
    if (sent.id === undefined) return new Response(null, { status: 202 })
    const given = answer(sent) ?? usual(sent)
    if (given instanceof Response) return given
    const id = sent.method === 'initialize' ? session() : undefined
    const headers = id ? { 'mcp-session-id': id } : undefined
    return Response.json({ jsonrpc: '2.0', id: sent.id, ...given }, headers ? { headers } : {})
  }
}

export const rawPeer = (...given: Parameters<typeof rawAnswers>): Promise<TestPeer> =>
  httpPeer(rawAnswers(...given))

function usual({ method, params }: RawRequest): object {
  if (method === 'initialize')
    return {
      result: {
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'raw', version: '1' },
      },
    }
  if (method === 'tools/list') return { result: { tools: [validTool('one'), validTool('two')] } }
  return { result: { content: [{ type: 'text', text: 'done' }] } }
}

/** A server with this answer to each `tools/list`. */
export const listingPeer = (answer: object): Promise<TestPeer> =>
  rawPeer(({ method }) => (method === 'tools/list' ? answer : undefined))

/** A server with this answer to each `tools/call`. */
export const callingPeer = (answer: Response | object): Promise<TestPeer> =>
  rawPeer(({ method }) => (method === 'tools/call' ? answer : undefined))

/** A service whose names all lead to one upstream. The test defines the routes of the upstream. */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connectTo, upstreamServer } from '@steward/server/engine/egress/fixture.ts'
import type { TestService } from '../service.ts'
import { boot } from '../service.ts'
import { only, textOf, turn } from '../turns.ts'

/** Handlers by path. */
export type UpstreamRoutes = Record<
  string,
  (response: ServerResponse, request: IncomingMessage) => unknown
>

type NotedRequest = { path: string; authorization: string | undefined; key: unknown; body: string }

export type UpstreamService = AsyncDisposable & {
  service: TestService
  noted: NotedRequest[]
  /** Number of requests without a complete answer. */
  open(): number
  /** Runs a turn with one tool call and returns the result of the tool. */
  said(session: string, text: string): Promise<{ text: string; isError: unknown }>
}

export async function startUpstreamService(ways: UpstreamRoutes): Promise<UpstreamService> {
  const noted: NotedRequest[] = []
  let open = 0
  const upstream = await upstreamServer(async (request, response) => {
    const { url: path = '', headers } = request
    const seen: NotedRequest = {
      path,
      authorization: headers.authorization,
      key: headers['x-key'],
      body: '',
    }
    noted.push(seen)
    request.setEncoding('utf8').on('data', (text: string) => (seen.body += text))
    open++
    response.once('close', () => open--)
    const way = ways[path]
    if (way) await way(response, request)
    else response.end(`whole ${headers.authorization}`)
  })
  const service = await boot('sqlite', {
    overrides: {
      nameOverride: {
        connect: connectTo(upstream),
        dial: async () => connect(upstream.port, '127.0.0.1'),
      },
    },
  })
  return {
    service,
    noted,
    open: () => open,
    async said(session, text) {
      const result = only(await turn(service, session, text), 'agent.tool_result')
      return { text: textOf(result), isError: result['is_error'] }
    },
    async [Symbol.asyncDispose]() {
      await service.close()
      await upstream[Symbol.asyncDispose]()
      assert.equal(open, 0)
    },
  }
}

export const toolset = { type: 'agent_toolset_20260401' }

export const bearer = (token: string, host = 'api.example') => ({
  type: 'static_bearer',
  token,
  mcp_server_url: `https://${host}/mcp`,
})

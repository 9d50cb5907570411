/** The outside of a server under test: one machine that answers for all hosts, by their names. */
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer as createHttpServer } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { createServer as createTlsServer } from 'node:tls'
import { certificateAuthority } from '@steward/gate/authority.ts'
import { echoServer, serveAnswer, streamableHttp } from '@steward/harness/tools/mcp/mcp-fixture.ts'
import { anthropicDialect } from '@steward/model/stubs/stub-anthropic.ts'
import { says } from '../priced-model.ts'

const json = (response: ServerResponse, body: object, status = 200) =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

function speakAsModel(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(anthropicDialect.frames(says('hello', { input: 1, output: 1 })).join(''))
}

/** `authorityFile`: where the certificate is written that the server has to trust. */
export async function openWorld(authorityFile: string): Promise<void> {
  const authority = certificateAuthority()
  await writeFile(authorityFile, authority.pem)
  const mcp = streamableHttp(() => echoServer())
  const hosts: Record<string, (request: IncomingMessage, response: ServerResponse) => void> = {
    'api.anthropic.com': (_, response) => speakAsModel(response),
    'models.example': (_, response) => speakAsModel(response),
    'api.tavily.com': (_, response) => json(response, { results: [] }),
    'mcp.example': (request, response) => void serveAnswer(mcp.answer, request, response),
    'hooks.example': (_, response) => json(response, {}),
    'hint.example': (_, response) => json(response, {}),
    'otel.example': (_, response) => json(response, {}),
    'pages.example': (_, response) =>
      void response.writeHead(200, { 'content-type': 'text/plain' }).end('a page'),
  }
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const host = (request.headers.host ?? '').replace(/:\d+$/, '')
    const serve = hosts[host]
    if (serve) serve(request, response)
    else response.writeHead(404, { 'content-type': 'text/plain' }).end('not here')
  }
  const secure = {
    SNICallback: (
      name: string,
      done: (error: null, context: ReturnType<typeof authority.contextFor>) => void,
    ) => done(null, authority.contextFor(name)),
  }
  const servers = [
    createHttpServer(answer).listen(80, '0.0.0.0'),
    createHttpsServer(secure, answer).listen(443, '0.0.0.0'),
    createTlsServer(secure, (socket) => void socket.on('error', () => {}).resume()).listen(
      6514,
      '0.0.0.0',
    ),
  ]
  await Promise.all(servers.map((server) => once(server, 'listening')))
}

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { describe, it } from 'node:test'
import { openServiceProxy } from './service-proxy.ts'

async function heard() {
  const paths: string[] = []
  const server = createServer((request, response) => {
    paths.push(request.url ?? '')
    response.end(request.headers.host)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    ...{ paths, host: `127.0.0.1:${port}` },
    [Symbol.dispose]: () => void (server.closeAllConnections(), server.close()),
  }
}

/** The answer to these lines on one connection from inside. */
async function said(path: string, text: string): Promise<string> {
  const socket = connect(path).setEncoding('utf8')
  socket.write(text)
  let all = ''
  for await (const piece of socket) all += piece as string
  return all
}

const get = (target: string): string =>
  `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`
const tunnel = 'CONNECT steward.internal:80 HTTP/1.1\r\nHost: steward.internal:80\r\n\r\n'

describe('the service proxy of a sandbox', () => {
  for (const below of ['', '/below'])
    it(`leads to the service alone, however another is named, at ${below}/`, async () => {
      using service = await heard()
      using other = await heard()
      const serviceProxy = await openServiceProxy(`http://${service.host}${below}`)
      try {
        const ask = (text: string) => said(serviceProxy.egress.socket, text)
        assert.match(await ask(get('http://steward.internal/v1/x?y=%2e')), /^HTTP\/1\.1 200 /)
        assert.match(await ask(tunnel + get('/v1/z')), /^HTTP\/1\.1 200 .*HTTP\/1\.1 200 /s)
        assert.deepEqual(service.paths.splice(0), [`${below}/v1/x?y=%2e`, `${below}/v1/z`])
        const direct = [`//${other.host}/`, `/\\${other.host}/`]
        for (const target of direct) await ask(get(`http://steward.internal${target}`))
        for (const target of [...direct, `http://${other.host}/`, '*']) {
          await ask(get(target))
          await ask(tunnel + get(target))
        }
        for (const target of ['/../outside', '/%2e%2e/outside', '/v1/../../outside'])
          await ask(tunnel + get(target))
        assert.deepEqual(other.paths, [])
        for (const path of service.paths) assert.ok(path.startsWith(`${below}/`), path)
      } finally {
        await serviceProxy.close()
      }
    })
})

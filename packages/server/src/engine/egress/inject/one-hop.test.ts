import assert from 'node:assert/strict'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { bearerRow, openTestContext, secret } from './forward-fixture.ts'

describe('masking', () => {
  it('reads what is compressed for one hop alone', async () => {
    const forOneHop: Record<string, [string, string][]> = {
      '/coding': [['transfer-encoding', 'gzip, chunked']],
      '/listed': [
        ['content-encoding', 'gzip'],
        ['connection', 'content-encoding'],
      ],
      '/twice': [
        ['content-encoding', 'gzip'],
        ['transfer-encoding', 'gzip, chunked'],
      ],
    }
    await using bench = await openTestContext(
      [bearerRow('https://api.example/mcp')],
      (request, response) => {
        for (const each of forOneHop[request.url ?? ''] ?? []) response.setHeader(...each)
        response.end(gzipSync(`<${secret}>`))
      },
    )
    for (const path of ['coding', 'listed']) {
      const answer = await bench.ask(`https://api.example/${path}`)
      assert.equal(await text(answer.body), `<${'*'.repeat(secret.length)}>`, path)
    }
    await assert.rejects(bench.ask('https://api.example/twice'), /content encoding gzip, gzip/)
  })

  it('refuses a WebSocket that is compressed although nobody asked for that', async () => {
    await using bench = await openTestContext([bearerRow('https://api.example/')])
    bench.server.server.on('upgrade', (request, socket) => {
      socket.on('error', () => {})
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n' +
          'sec-websocket-extensions: permessage-deflate\r\n\r\n',
      )
      socket.write(gzipSync(request.headers.authorization ?? ''))
    })
    const switching = bench.upgrade('https://api.example/', { headers: [['Upgrade', 'websocket']] })
    await assert.rejects(switching, /content encoding permessage-deflate/)
  })
})
